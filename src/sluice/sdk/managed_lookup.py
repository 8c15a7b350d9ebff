"""Where to begin a partition that nobody handed over: its committed offset, asked for beside the work.

librdkafka can ask by itself when it is given no offset, but forgets the question (2.16) when a group coordinator that
has just come up refuses it: the partition would never be read. Asked explicitly it can be repeated.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaException, TopicPartition

from sluice.errors import UnavailableError
from sluice.model import Partition
from sluice.sdk.connect import client_settings, said
from sluice.sdk.settings import ConsumerSettings

# One question; it is asked again.
LIMIT_S = 2.0
AGAIN_S = 0.1


class Found(NamedTuple):
    partition: Partition
    epoch: int
    offset: int | None
    """None: nothing is committed."""


class OffsetLookup:
    """A thread that asks until it is answered; what it finds waits in `found` for the working thread."""

    def __init__(self, committed: Callable[[Collection[Partition]], Mapping[Partition, int | None]]) -> None:
        self._committed = committed
        """UnavailableError: ask again."""
        self._changed = threading.Condition()
        self._asked: dict[Partition, int] = {}
        self._closing = False
        self.found: deque[Found] = deque()
        self._thread = threading.Thread(target=self._run, daemon=True, name="sluice-lookup")
        self._thread.start()

    def ask(self, partition: Partition, epoch: int) -> None:
        with self._changed:
            self._asked[partition] = epoch
            self._changed.notify()

    def withdraw(self, partition: Partition) -> None:
        """The partition is no longer wanted."""
        with self._changed:
            self._asked.pop(partition, None)

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._asked)
                if self._closing:
                    return
                asked = dict(self._asked)
            try:
                offsets = self._committed(asked)
            except UnavailableError:
                time.sleep(AGAIN_S)
                continue
            with self._changed:
                for partition, epoch in asked.items():
                    # Withdrawn, or given anew, while the broker was asked: the answer is of no use.
                    if self._asked.get(partition) == epoch:
                        del self._asked[partition]
                        self.found.append(Found(partition, epoch, offsets[partition]))


class GroupOffsets:
    """The group's committed offsets, asked for by a client that is no member and is replaced when it is not answered.

    The consumer interface is used for it, not the admin one: after a broker's restart librdkafka (2.16) may never get
    an answer to an admin request to the group's coordinator, or abort the process over it.
    """

    def __init__(self, settings: ConsumerSettings) -> None:
        self._settings = client_settings(settings, **{"group.id": settings.group, "enable.auto.commit": False})
        self._patient = True
        self._client = self._connect()

    def __call__(self, partitions: Collection[Partition]) -> dict[Partition, int | None]:
        """None without a commit; UnavailableError while the broker does not tell all of them."""
        try:
            places = self._client.committed([TopicPartition(*p) for p in partitions], timeout=LIMIT_S)
        except KafkaException as error:
            self._replace(patient=not self._patient)
            raise UnavailableError(f"the committed offsets are not told: {said(error)}") from None
        if not self._patient:
            self._replace(patient=True)
        for place in places:
            if place.error is not None:
                raise UnavailableError(f"the committed offset of {place.topic}-{place.partition} is not told")
        told = {Partition(place.topic, place.partition): int(place.offset) for place in places}
        return {p: told[p] if told.get(p, -1) >= 0 else None for p in partitions}

    def close(self) -> None:
        self._client.close()

    def _replace(self, *, patient: bool) -> None:
        self.close()
        self._patient = patient
        self._client = self._connect()

    def _connect(self) -> Consumer:
        # What an open transaction may still commit is waited for, but not for ever: a coordinator may keep one that has
        # long ended (Kafka 4.3 did, out of step with its log after a stall). The older offset loses nothing: a
        # partition is given out only when its last owner can commit no more.
        isolation = "read_committed" if self._patient else "read_uncommitted"
        return Consumer({**self._settings, "isolation.level": isolation})
