"""The files a single-node broker starts from."""

from pathlib import Path

# Java may not start with more than this; the rest of the machine belongs to the consumers.
JAVA_OPTIONS = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

LOGGING = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
"""


def server_properties(*, port: int, controller_port: int, log_folder: Path) -> str:
    """One node that is broker and controller, reachable on loopback only."""
    return "".join(
        f"{key}={value}\n"
        for key, value in {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": log_folder,
            # One node: whatever Kafka wants three copies of has one.
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 4,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            # The default waits 3 s for more members before a new group's first rebalance.
            "group.initial.rebalance.delay.ms": 0,
            # A misspelt topic must be an error, not a new topic.
            "auto.create.topics.enable": "false",
            # 1,000 partitions on a laptop: each would otherwise reserve 10 MB of index on disk.
            "log.index.size.max.bytes": 1048576,
            # After a crash the node waits until its old self has timed out; 9 s by default.
            "broker.session.timeout.ms": 2000,
            "broker.heartbeat.interval.ms": 500,
            # Consumers may ask to be missed sooner than after 6 s.
            "group.min.session.timeout.ms": 500,
        }.items()
    )
