"""End, log-start and committed offsets. What could not be read is NaN, never 0.

The consumer interface is used for it, not the admin one: librdkafka aborts the whole process when an admin request to a
group's coordinator runs out of time while its broker restarts.
"""

import time
from collections.abc import Iterable, Mapping

import numpy as np
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaException, TopicPartition

from sluice.model import Partition
from sluice.model.values import FloatArray
from sluice.monitor.kafka.cluster import client_settings, partitions_of


class OffsetReader:
    """Asks for the offsets of one group; it is no member of it and commits nothing."""

    def __init__(self, bootstrap: str, client: Mapping[str, str], group: str) -> None:
        settings = {**client_settings(bootstrap, client), "group.id": group, "enable.auto.commit": False}
        self._consumer = Consumer(settings)
        # What is committed is told at once, even while a transaction is open that would commit more: some never end.
        self._commits = Consumer({**settings, "isolation.level": "read_uncommitted"})

    def partitions(self, topics: Iterable[str], *, limit_s: float) -> tuple[Partition, ...]:
        """As the broker lists them now; InputError for a topic that does not exist."""
        return partitions_of(self._consumer, topics, limit_s=limit_s)

    def committed(self, partitions: tuple[Partition, ...], deadline: float) -> FloatArray:
        """Committed offsets; -1 where nothing has been committed yet, which is known and not a failure."""
        asked = [TopicPartition(p.topic, p.number) for p in partitions]
        try:
            answer = self._commits.committed(asked, timeout=_left(deadline))
        except KafkaException:
            return np.full(len(partitions), np.nan)
        return np.array(
            [np.nan if each.error is not None else max(each.offset, -1) for each in answer], dtype=np.float64
        )

    def end(self, partitions: tuple[Partition, ...], deadline: float) -> FloatArray:
        return self._listed(partitions, OFFSET_END, deadline)

    def start(self, partitions: tuple[Partition, ...], deadline: float) -> FloatArray:
        return self._listed(partitions, OFFSET_BEGINNING, deadline)

    def close(self) -> None:
        self._consumer.close()
        self._commits.close()

    def _listed(self, partitions: tuple[Partition, ...], place: int, deadline: float) -> FloatArray:
        # The request takes a time; the broker reads these two as the end and the beginning of the log.
        asked = [TopicPartition(p.topic, p.number, place) for p in partitions]
        try:
            answer = self._consumer.offsets_for_times(asked, timeout=_left(deadline))
        except KafkaException:
            return np.full(len(partitions), np.nan)
        return np.array(
            [np.nan if each.error is not None or each.offset < 0 else each.offset for each in answer], dtype=np.float64
        )


def _left(deadline: float) -> float:
    """Seconds until the deadline, at least an instant: 0 would mean to wait for ever."""
    return max(deadline - time.monotonic(), 0.001)
