"""Measurements from a topic: one JSON message each."""

import time
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaException, TopicPartition

from sluice.errors import InputError, UnavailableError
from sluice.monitor.kafka.cluster import CONNECT_LIMIT_S, client_settings, partitions_of
from sluice.monitor.measured.measurement import Measurement

READ_AT_ONCE = 1000


class MeasurementTopic:
    """Begins with the last message of each partition: the one that is in force."""

    def __init__(self, bootstrap: str, topic: str, *, client: Mapping[str, str], limit_s: float) -> None:
        self._consumer = Consumer(
            {
                **client_settings(bootstrap, client),
                # Nothing is ever committed: every reader sees every measurement.
                "group.id": f"__sluice.{topic}.reader",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 20,
                "allow.auto.create.topics": False,
            }
        )
        self._newest: Measurement | None = None
        places = []
        for partition in partitions_of(self._consumer, [topic], limit_s=limit_s):
            place = TopicPartition(topic, partition.number)
            first, end = self._ends(place, limit_s)
            places.append(TopicPartition(topic, partition.number, max(first, end - 1)))
        self._consumer.assign(places)

    def _ends(self, place: TopicPartition, limit_s: float) -> tuple[int, int]:
        deadline_s = time.monotonic() + CONNECT_LIMIT_S
        while True:
            try:
                first, end = self._consumer.get_watermark_offsets(place, timeout=limit_s)
            except KafkaException as error:
                # A topic that was made a moment ago has no leader yet.
                if time.monotonic() > deadline_s:
                    said = error.args[0].str()
                    raise UnavailableError(f"topic {place.topic!r} cannot be read: {said}; try again") from None
                time.sleep(0.1)
            else:
                return first, end

    def newest(self) -> Measurement | None:
        try:
            while messages := self._consumer.consume(READ_AT_ONCE, timeout=0):
                for message in messages:
                    if message.error() is None:
                        self._keep(message.value() or b"")
        except KafkaException:
            pass  # what is not heard grows old
        return self._newest

    def _keep(self, message: bytes) -> None:
        try:
            read = Measurement.from_json(message)
        except InputError:
            return
        if self._newest is None or read.time_s >= self._newest.time_s:
            self._newest = read

    def close(self) -> None:
        self._consumer.close()
