"""The stream from Kafka into the lake."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from sluice.errors import UnavailableError
from sluice.model.stream_snapshot import to_message, workload_topic
from sluice.monitor.kafka.cluster import client_settings, connect, create_topics, partitions_of
from sluice.pipeline.telemetry.facts import facts, slim
from sluice.pipeline.telemetry.lake import Lake
from sluice.pipeline.telemetry.spec import TelemetrySpec
from sluice.pipeline.telemetry.step import State, take_step
from sluice.pipeline.telemetry.watermark import heads_of
from sluice.pipeline.telemetry.workload import snapshots

_SEND_LIMIT_S = 30.0
_ANSWER_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSpec:
    """Where from, where to, how often."""

    bootstrap: str
    lake: str
    every_s: float = 5.0
    """A batch begins this often, if there is anything to read."""
    until_empty: bool = False
    """Stop when everything that was there at the start has been read."""
    max_records: int = 1_000_000
    """Of one batch."""
    publish: bool = True
    """Write the groups' snapshots to their workload topics."""
    client: Mapping[str, str] = field(default_factory=dict)
    """Settings of the Kafka client, such as security.protocol."""


def check_stream(stream: StreamSpec, spec: TelemetrySpec) -> None:
    """One clear line when the broker or a topic is not there; makes the topics that are written to."""
    admin = connect(stream.bootstrap, stream.client)
    partitions_of(admin, (*spec.event_topics, *spec.report_topics), limit_s=_ANSWER_LIMIT_S)
    if not stream.publish:
        return
    known = admin.list_topics(timeout=_ANSWER_LIMIT_S).topics
    missing = [name for g in spec.groups if (name := workload_topic(g.group)) not in known]
    # Only the newest snapshot of a group is of use.
    new = [NewTopic(name, num_partitions=1, config={"cleanup.policy": "compact"}) for name in missing]
    try:
        create_topics(admin, new, limit_s=_ANSWER_LIMIT_S)
    except KafkaException as error:
        raise UnavailableError(f"the workload topics cannot be made: {error.args[0].str()}") from None


def start_stream(
    session: SparkSession, stream: StreamSpec, spec: TelemetrySpec, *, now: Callable[[], float] = time.time
) -> StreamingQuery:
    """Begin, or go on where the lake left off; `check_stream` comes first. The session needs the connector's jars."""
    topics = (*spec.event_topics, *spec.report_topics)
    lake = Lake(stream.lake)
    batches = _Batches(session, lake, spec, _publisher(stream), now)
    reader = (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", stream.bootstrap)
        .option("subscribe", ",".join(topics))
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", stream.max_records)
        # Retention that deletes what was not read yet is a loss: say so instead of going on.
        .option("failOnDataLoss", "true")
    )
    for key, value in stream.client.items():
        reader = reader.option(f"kafka.{key}", value)
    writer = reader.load().writeStream.foreachBatch(batches.run).option("checkpointLocation", lake.checkpoint)
    if stream.until_empty:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{stream.every_s} seconds")
    return writer.start()


class _Batches:
    """Runs each batch once: the state of the lake says what has been done."""

    def __init__(
        self,
        session: SparkSession,
        lake: Lake,
        spec: TelemetrySpec,
        publish: Callable[[State, float, TelemetrySpec], None],
        now: Callable[[], float],
    ) -> None:
        self._session, self._lake, self._spec = session, lake, spec
        self._publish, self._now = publish, now
        self._state = lake.state()

    def run(self, records: DataFrame, batch: int) -> None:
        # A batch whose end Spark did not note before it was killed comes again, with the same records.
        if not self._lake.expects(batch):
            return
        clock_s = self._now()
        found = facts(slim(records, self._spec), heads_of(self._state.heads), clock_s, self._spec).toArrow()
        step = take_step(self._state, found, clock_s, self._spec)
        self._publish(step.state, clock_s, self._spec)
        self._lake.add(batch, step, clock_s, self._spec)
        self._state = step.state


def _publisher(stream: StreamSpec) -> Callable[[State, float, TelemetrySpec], None]:
    if not stream.publish:
        return lambda state, clock_s, spec: None
    producer = Producer({**client_settings(stream.bootstrap, stream.client), "enable.idempotence": True})
    failed: list[str] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(error.str())

    def publish(state: State, clock_s: float, spec: TelemetrySpec) -> None:
        for snapshot in snapshots(state, clock_s, spec):
            # Keyed by group: in a compacted topic the newest snapshot of each group stays.
            producer.produce(
                workload_topic(snapshot.group), key=snapshot.group, value=to_message(snapshot), on_delivery=delivered
            )
        unsent = producer.flush(_SEND_LIMIT_S)
        if unsent or failed:
            said = failed[0] if failed else f"no answer within {_SEND_LIMIT_S:g} s"
            raise UnavailableError(f"snapshots could not be written to Kafka: {said}")

    return publish
