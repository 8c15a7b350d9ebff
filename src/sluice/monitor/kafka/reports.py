"""The consumers' own reports, read from their telemetry topic."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from sluice.errors import InputError
from sluice.model import Partition
from sluice.model.telemetry import Telemetry
from sluice.monitor.kafka.cluster import client_settings

# How far back a new reader looks: reports come about once a second.
LOOK_BACK_S = 10.0
READ_AT_ONCE = 10_000
TRY_AGAIN_S = 2.0
CATCH_UP_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Heard:
    """A consumer's latest report and when it reached us by our own clock: clocks of two machines are never compared."""

    report: Telemetry
    time_s: float


class ReportReader:
    """Keeps the latest report of every consumer of one group.

    Silence counts only while we could have heard something. After a time in which the topic was out of reach, or in
    which this process itself stood still, everybody has just been heard: who is gone will be silent from then on.
    """

    def __init__(
        self, bootstrap: str, client: Mapping[str, str], *, group: str, topic: str, deaf_s: float, limit_s: float
    ) -> None:
        self._consumer = Consumer(
            {
                **client_settings(bootstrap, client),
                # Nothing is ever committed: every reader sees every report.
                "group.id": f"__sluice.{group}.reader",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 100,
                "fetch.error.backoff.ms": 50,
                "allow.auto.create.topics": False,
            }
        )
        self._group = group
        self._topic = topic
        self._deaf_s = deaf_s
        """A pause between two readings longer than this counts as a time out of reach."""
        self._limit_s = limit_s
        self._partitions: tuple[Partition, ...] = ()
        self._tried_s = float("-inf")
        self._sure_s = float("-inf")
        self._unread: dict[int, int] = {}
        """Where the topic ended when it was found, of the partitions that have not been read so far."""
        self._begun_s = float("-inf")
        self._latest: dict[str, Heard] = {}
        self.refused = 0
        """Messages that were no reports of this version."""

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """Of the topic, once it has been found; the monitor asks for their offsets to see that it can be read."""
        return self._partitions

    @property
    def ready(self) -> bool:
        """What stood in the topic when it was found has been read: who is silent now does not report."""
        return bool(self._partitions) and not self._unread

    def read(self, now_s: float, *, answered: bool) -> Mapping[str, Heard]:
        """Every consumer's latest report, those that left taken out.

        `answered`: the broker has just answered for `partitions` (for anything, while there are none).
        """
        if not answered:
            return self._latest
        try:
            if not self._partitions:
                if now_s - self._tried_s < TRY_AGAIN_S:
                    return self._latest
                self._tried_s = now_s
                self._begin(now_s)
            self._drain(now_s)
        except KafkaException:
            self._partitions = ()  # deleted, or made anew: looked for afresh the next time
            return self._latest
        if now_s - self._sure_s > self._deaf_s:
            self._latest = {name: Heard(heard.report, now_s) for name, heard in self._latest.items()}
        self._sure_s = now_s
        return self._latest

    def forget(self, consumer: str) -> None:
        self._latest.pop(consumer, None)

    def close(self) -> None:
        self._consumer.close()

    def _begin(self, now_s: float) -> None:
        described = self._consumer.list_topics(self._topic, timeout=self._limit_s).topics[self._topic]
        if described.error is not None or not described.partitions:
            raise KafkaException(described.error or KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
        since_ms = round((now_s - LOOK_BACK_S) * 1000)
        asked = [TopicPartition(self._topic, number, since_ms) for number in described.partitions]
        begin = self._consumer.offsets_for_times(asked, timeout=self._limit_s)
        for place in begin:
            if place.error is not None:
                raise KafkaException(place.error)
            if place.offset < 0:
                place.offset = OFFSET_END
        self._unread = {}
        for place in begin:
            end = self._consumer.get_watermark_offsets(
                TopicPartition(self._topic, place.partition), timeout=self._limit_s
            )[1]
            if 0 <= place.offset < end:
                self._unread[place.partition] = end
        self._begun_s = now_s
        self._consumer.assign(begin)
        self._partitions = tuple(Partition(self._topic, number) for number in described.partitions)

    def _drain(self, now_s: float) -> None:
        while messages := self._consumer.consume(READ_AT_ONCE, timeout=0):
            for message in messages:
                if (problem := message.error()) is not None:
                    raise KafkaException(problem)
                self._keep(message.value() or b"", now_s)
                if (message.offset() or 0) + 1 >= self._unread.get(message.partition() or 0, math.inf):
                    self._unread.pop(message.partition() or 0, None)
        if now_s - self._begun_s > CATCH_UP_LIMIT_S:
            self._unread = {}  # retention was quicker than we

    def _keep(self, message: bytes, now_s: float) -> None:
        try:
            report = Telemetry.from_wire(message)
        except InputError:
            self.refused += 1
            return
        if report.group != self._group:
            return
        if not report.left:
            self._latest[report.consumer] = Heard(report, now_s)
            return
        known = self._latest.get(report.consumer)
        # The last words of a former run must not remove its successor.
        if known is not None and known.report.run == report.run:
            self.forget(report.consumer)
