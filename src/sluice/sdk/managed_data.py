"""The events themselves: manual assignment, one partition at a time, without stopping the others."""

import logging
import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaException, Message, TopicPartition

from sluice.errors import UnavailableError
from sluice.model import Partition
from sluice.sdk.connect import CONNECT_LIMIT_S, client_settings, said
from sluice.sdk.event import Event
from sluice.sdk.settings import ConsumerSettings

_ERROR, _TOPIC, _NUMBER, _OFFSET = Message.error, Message.topic, Message.partition, Message.offset
_KEY, _VALUE, _TIMESTAMP, _HEADERS = Message.key, Message.value, Message.timestamp, Message.headers
_MAKE: Callable[[Iterable[Any]], Event] = partial(tuple.__new__, Event)

_log = logging.getLogger("sluice.managed")


class DataClient:
    """For one thread: a client that is polled does not let another thread change its assignment."""

    def __init__(self, settings: ConsumerSettings) -> None:
        self._topics = settings.topics
        self._reset = OFFSET_BEGINNING if settings.from_start else OFFSET_END
        self._partitions: dict[Any, Partition] = {}
        """By number where there is one topic, else by topic and number."""
        self._consumer = Consumer(
            client_settings(
                settings,
                **{
                    "group.id": settings.group,
                    "enable.auto.commit": False,
                    "enable.auto.offset.store": False,
                    "auto.offset.reset": "earliest" if settings.from_start else "latest",
                    # A partition that is added waits for the fetch under way: keep it short.
                    "fetch.wait.max.ms": 20,
                    "fetch.error.backoff.ms": 10,
                    "allow.auto.create.topics": False,
                },
            )
        )

    def warm_up(self) -> None:
        """Meet every broker that leads a partition, so that the first assignment finds everything in place."""
        try:
            for topic in self._topics:
                leaders: dict[int, int] = {}
                for number, described in (
                    self._consumer.list_topics(topic, CONNECT_LIMIT_S).topics[topic].partitions.items()
                ):
                    leaders.setdefault(described.leader, number)
                for number in leaders.values():
                    self._consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=CONNECT_LIMIT_S)
        except KafkaException as error:
            raise UnavailableError(f"the broker does not serve the topics: {said(error)}; try again") from None

    def group_metadata(self) -> Any:
        return self._consumer.consumer_group_metadata()

    def begin(self, partition: Partition, offset: int | None) -> None:
        """Read from `offset` on; None: from where the settings say a partition without commits begins."""
        place = self._reset if offset is None else offset
        self._consumer.incremental_assign([TopicPartition(partition.topic, partition.number, place)])

    def end(self, partition: Partition) -> None:
        self._consumer.incremental_unassign([TopicPartition(partition.topic, partition.number)])

    def poll(self, limit: int, wait_s: float) -> list[Event]:
        """Whatever is there, at most `limit`; waits only while there is nothing."""
        first = self._consumer.poll(wait_s)
        if first is None:
            return []
        messages: list[Any] = [first, *self._consumer.consume(limit - 1, timeout=0)] if limit > 1 else [first]
        if any(map(_ERROR, messages)):
            for message in messages:
                if (problem := message.error()) is not None:
                    _note(problem)
            messages = [message for message in messages if message.error() is None]
        return self._events(messages)

    def _events(self, messages: list[Any]) -> list[Event]:
        # Column by column and in C: a loop that makes one event at a time costs more than reading it.
        columns = zip(
            self._partition_column(messages),
            map(_OFFSET, messages),
            map(_KEY, messages),
            map(_VALUE, messages),
            _stamps(messages),
            [tuple(each or ()) for each in map(_HEADERS, messages)] if any(map(_HEADERS, messages)) else repeat(()),
            strict=False,
        )
        return list(map(_MAKE, columns))

    def _partition_column(self, messages: list[Any]) -> Iterable[Partition]:
        # The topic need not be asked for where there is only one.
        one = self._topics[0] if len(self._topics) == 1 else None
        places: Iterable[Any] = (
            map(_NUMBER, messages) if one else zip(map(_TOPIC, messages), map(_NUMBER, messages), strict=True)
        )
        try:
            return list(map(self._partitions.__getitem__, places))
        except KeyError:
            self._partitions.update(
                {
                    m.partition() if one else (m.topic(), m.partition()): Partition(m.topic(), m.partition())
                    for m in messages
                }
            )
            return self._partition_column(messages)

    def close(self) -> None:
        self._consumer.close()


def _stamps(messages: list[Any]) -> list[float]:
    stamps = [ms / 1000 for _, ms in map(_TIMESTAMP, messages)]
    # One that the broker does not keep is given as 0 or less.
    return stamps if min(stamps, default=1.0) > 0 else [stamp if stamp > 0 else math.nan for stamp in stamps]


def _note(problem: Any) -> None:
    """Most are news about connections, which come back by themselves; a fatal one is not."""
    if problem.fatal():
        raise UnavailableError(f"the Kafka client cannot go on: {problem.str()}")
    _log.warning("kafka: %s", problem.str())
