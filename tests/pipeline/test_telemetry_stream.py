"""The stream from a real broker: totals are those of what was produced, whatever is killed on the way."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn
from telemetry_oracle import Event, Oracle

from sluice.assembly.live import live
from sluice.broker import Broker
from sluice.cli.main import main
from sluice.model import Action, Decision, Partition
from sluice.model.sketch import LatencySketch
from sluice.model.stream_snapshot import from_message, workload_topic
from sluice.model.telemetry import Telemetry, telemetry_topic
from sluice.monitor.kafka.cluster import create_topics
from sluice.pipeline.telemetry.job import StreamSpec, check_stream, start_stream
from sluice.pipeline.telemetry.lake import read_lake
from sluice.pipeline.telemetry.spec import TelemetrySpec, WatchedGroup
from sluice.settings.live import read_live

PARTITIONS = 3
START_S = 1_700_000_000
KILLS = 5
DELAY_S, WINDOW_S, SLIDE_S = 5, 30, 10


@dataclass
class Produced:
    group: str
    topic: str
    logs: list[list[Event]]
    reports: int


@pytest.fixture(scope="module")
def produced(broker: Broker, make_topic: Callable[..., str], unique: Callable[[str], str]) -> Produced:
    """Some minutes of events with their own clock, a few of them late, and a consumer's reports, one of them torn."""
    # The events are years old by the broker's clock: retention would delete them within the minute.
    topic, group = make_topic(PARTITIONS, stem="orders", retention_ms="-1"), unique("payments")
    reports_topic = telemetry_topic(group)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    create_topics(admin, [NewTopic(reports_topic, num_partitions=1)], limit_s=20.0)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 20})
    random = Random(7)
    logs: list[list[Event]] = [[] for _ in range(PARTITIONS)]
    for i in range(6000):
        partition = random.randrange(PARTITIONS)
        late_s = 60.0 if random.random() < 0.01 else random.uniform(0.0, 4.0)
        time_s = round(START_S + i / 20 - late_s, 3)
        key, value = b"k%d" % random.randrange(8), b"x" * random.randrange(1, 50)
        stamp = round(time_s * 1000)
        producer.produce(topic, partition=partition, key=key, value=value, timestamp=stamp)
        logs[partition].append((stamp / 1000, key, len(key) + len(value)))
    for partition in range(PARTITIONS):
        # Long after the rest: everything before it is over.
        producer.produce(topic, partition=partition, value=b"end", timestamp=(START_S + 10_000) * 1000)
        logs[partition].append((float(START_S + 10_000), None, 3))
    for i in range(1, 31):
        report = Telemetry(
            group=group,
            consumer="c1",
            run="r",
            time_s=float(START_S + i),
            processed_events=float(10 * i),
            busy_s=0.1 * i,
            latency_s=1.0 * i,
            latency=LatencySketch.of([0.1] * (10 * i)),
            positions={Partition(topic, p): 10 for p in range(PARTITIONS)},
            committed={Partition(topic, p): 9 for p in range(PARTITIONS)},
        )
        producer.produce(reports_topic, key=b"c1", value=report.to_wire())
    producer.produce(reports_topic, key=b"c1", value=b"{torn")
    producer.flush(30)
    return Produced(group=group, topic=topic, logs=logs, reports=300)


def command(broker: Broker, produced: Produced, lake: Path) -> list[str]:
    return [
        "pipeline",
        "telemetry",
        f"--bootstrap={broker.bootstrap}",
        f"--group={produced.group}={produced.topic}",
        f"--lake={lake}",
        f"--window-s={WINDOW_S}",
        f"--slide-s={SLIDE_S}",
        f"--delay-s={DELAY_S}",
        "--max-records=250",
        "--every-s=0",
        "--until-empty",
        "--master=local[2]",
        "--memory=512m",
    ]


def batches_of(lake: Path) -> int:
    return len(list((lake / "_batches").glob("b*.json")))


@pytest.mark.timeout(900)
def test_five_kills_in_mid_stream_lose_nothing_and_count_nothing_twice(
    spark: SparkSession, broker: Broker, produced: Produced, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    random = Random(3)
    words = command(broker, produced, lake)
    # A Java that is killed leaves its temporary files.
    (scratch := tmp_path / "java").mkdir()
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={scratch}"}
    for kill in range(KILLS + 1):
        before = batches_of(lake)
        # A group of its own: the kill takes Spark's Java along, at once.
        job = subprocess.Popen([sys.executable, "-m", "sluice", *words], start_new_session=True, env=environment)
        if kill == KILLS:
            assert job.wait(300) == 0
            break
        deadline = time.monotonic() + 200
        while batches_of(lake) < before + 1 + kill % 2 and job.poll() is None:
            assert time.monotonic() < deadline, "no batch was finished"
            time.sleep(0.02)
        time.sleep(random.uniform(0.0, 0.8))
        assert job.poll() is None, "the job ended before it could be killed; there is too little to read"
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()

    oracle = Oracle(delay_s=DELAY_S, window_s=WINDOW_S, slide_s=SLIDE_S, latest_s=float("inf"))
    for partition, log in enumerate(produced.logs):
        oracle.read(partition, log)
    seconds = read_lake(spark, str(lake), "seconds")
    assert {row.group for row in seconds.select("group").distinct().collect()} == {produced.group}
    found = {(r.partition, r.second): (r.events, r.bytes) for r in seconds.collect()}
    assert found == {at: (len(mine), sum(e[2] for e in mine)) for at, mine in oracle.seconds.items()}
    assert seconds.count() == len(found)
    bad = read_lake(spark, str(lake), "quarantine").collect()
    late = [(r.partition, r.offset, r.problem) for r in bad if r.topic == produced.topic]
    assert sorted(late) == oracle.bad
    # All but the three markers, which nothing comes after.
    assert sum(n for n, _ in found.values()) + len(late) == 6000
    assert [r.record for r in bad if r.topic != produced.topic] == ["{torn"]
    windows = read_lake(spark, str(lake), "windows").collect()
    assert {(r.partition, r.end_s): r.arrival_eps for r in windows} == pytest.approx(
        {at: row["arrival_eps"] for at, row in oracle.windows.items()}
    )
    consumers = read_lake(spark, str(lake), "consumers").agg(fn.sum("processed_events")).collect()[0][0]
    # Reports up to five seconds before the newest are over: windows [.., 10) and [10, 20) of the thirty.
    assert consumers == 190.0


def test_the_workload_topic_shows_the_group_as_it_stands(
    broker: Broker, produced: Produced, spark: SparkSession
) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "reader", "enable.auto.commit": False})
    place = TopicPartition(workload_topic(produced.group), 0)
    low, high = consumer.get_watermark_offsets(place, timeout=10)
    assert high > low
    consumer.assign([TopicPartition(place.topic, 0, high - 1)])
    message = consumer.poll(20)
    consumer.close()
    assert message is not None
    snapshot = from_message(message.value() or b"")
    assert snapshot.group == produced.group
    assert [p.topic for p in snapshot.partitions] == [produced.topic] * PARTITIONS
    assert snapshot.end_events.tolist() == [float(len(log)) for log in produced.logs]
    assert snapshot.committed_events.tolist() == [9.0] * PARTITIONS
    assert snapshot.assignment.consumers == ("c1",)
    assert snapshot.reports is not None
    assert snapshot.reports.counter("processed_events").tolist() == [300.0]


# A rate is the difference of two snapshots, and a busy machine takes seconds for a batch: the window holds several.
RUN = """
[objective]
latency_s = 0.5
[control]
monitor = "stream"
policy = "tail-binpack"
interval_s = 0.5
[group]
name = "{group}"
topics = ["{topic}"]
service_eps = 100.0
[analyze]
window_s = 30.0
"""


class Kept:
    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> None:
        self.decisions.append(decision)


def test_a_controller_that_reads_the_stream_sees_the_rate_and_asks_for_more(
    spark: SparkSession, broker: Broker, make_topic: Callable[..., str], unique: Callable[[str], str], tmp_path: Path
) -> None:
    topic, group = make_topic(2, stem="clicks"), unique("readers")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    create_topics(admin, [NewTopic(telemetry_topic(group), 1)], limit_s=20.0)
    stream = StreamSpec(bootstrap=broker.bootstrap, lake=str(tmp_path / "lake"), every_s=0.5)
    spec = TelemetrySpec(groups=(WatchedGroup(group=group, topics=(topic,)),))
    check_stream(stream, spec)
    config = tmp_path / "run.toml"
    config.write_text(RUN.format(group=group, topic=topic))
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    kept = Kept()
    query = start_stream(spark, stream, spec)
    try:
        with live(
            read_live(config), bootstrap=broker.bootstrap, act=False, policy="tail-binpack", shadows=(), sink=kept
        ) as running:
            deadline = time.monotonic() + 120
            begun, sent = time.monotonic(), 0
            while time.monotonic() < deadline:
                # 400 events/s, and one consumer that reports it owns both partitions and has done nothing.
                while sent < 400 * (time.monotonic() - begun):
                    producer.produce(topic, b"x" * 10, partition=sent % 2)
                    sent += 1
                owned = {Partition(topic, p): 0 for p in range(2)}
                report = Telemetry(
                    group=group, consumer="c1", run="r", time_s=time.time(), positions=owned, committed=owned
                )
                producer.produce(telemetry_topic(group), report.to_wire())
                producer.flush(10)
                assert query.exception() is None
                running.loop.tick()
                # A batch may bring what has waited for it: as many as came in a longer time than it tells.
                if any(d.plan.action is Action.UP and _near(d, 400) for d in kept.decisions):
                    break
                time.sleep(0.25)
    finally:
        query.stop()
    seen = [d for d in kept.decisions if d.plan.action is Action.UP and _near(d, 400)]
    assert seen, [(d.plan.action, d.workload.arrival_eps.sum()) for d in kept.decisions]
    assert seen[0].plan.target.count > 1
    assert seen[0].snapshot.assignment.consumers == ("c1",)


def _near(decision: Decision, rate_eps: float) -> bool:
    """What the stream has read at two instants some seconds apart: near what was sent, batches come unevenly."""
    return float(decision.workload.arrival_eps.sum()) == pytest.approx(rate_eps, rel=0.5)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--group=payments"], "--group 'payments' is not of the form"),
        (["--window-s=31"], "window_s is 31, no multiple of slide_s 10"),
        (["--group=g=no-such-topic"], "topic 'no-such-topic' does not exist"),
        (["--bootstrap=127.0.0.1:1"], "no Kafka broker answers at 127.0.0.1:1"),
    ],
)
def test_bad_input_is_one_clear_line(
    broker: Broker,
    produced: Produced,
    tmp_path: Path,
    spark: SparkSession,
    capfd: pytest.CaptureFixture[str],
    change: Sequence[str],
    said: str,
) -> None:
    words = command(broker, produced, tmp_path / "lake")
    kept = [word for word in words if not any(word.startswith(c.partition("=")[0]) for c in change)]
    assert main([*kept, *change]) == 2
    assert said in capfd.readouterr().err
    assert not (tmp_path / "lake").exists()
