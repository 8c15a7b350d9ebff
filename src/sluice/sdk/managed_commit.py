"""Commits in transactions: a controller that gives this consumer up can make the broker refuse them.

A plain commit of a consumer without group membership is accepted from anybody at any time; one sent by a process that
was stopped for a minute would move the offset back. A transaction is refused once a newer producer has taken over the
transactional identity, which is what the controller does before it gives the partitions away.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from sluice.errors import UnavailableError
from sluice.model import Partition
from sluice.model.commands import transactional_id
from sluice.sdk.connect import CONNECT_LIMIT_S, client_settings, said
from sluice.sdk.settings import ConsumerSettings

# Between two commits, unless a partition is handed over: a transaction costs the broker several writes.
INTERVAL_S = 0.1
CALL_LIMIT_S = 2.0

_log = logging.getLogger("sluice.managed")


class Committer:
    """A thread that brings the committed offsets up to what it was last given; nobody waits for it but who asks to."""

    def __init__(self, settings: ConsumerSettings, *, group_metadata: Any, may_commit: Callable[[], bool]) -> None:
        self._group_metadata = group_metadata
        self._may_commit = may_commit
        self._producer = Producer(
            client_settings(
                settings,
                **{
                    "transactional.id": transactional_id(settings.group, settings.instance),
                    # The broker asks to try again while it writes the end of the transaction before.
                    "retry.backoff.ms": 5,
                    "retry.backoff.max.ms": 100,
                    # After a new bootstrap librdkafka (2.16) waits for ever for the group coordinator it knew before.
                    "metadata.recovery.strategy": "none",
                },
            )
        )
        self._changed = threading.Condition()
        self._wanted: dict[Partition, int] = {}
        self._confirmed: dict[Partition, int] = {}
        self._parting: dict[Partition, Callable[[], None]] = {}
        self._closing = False
        self._busy = False
        self._rest_until_s = 0.0
        self.fenced = False
        """True: the broker refuses this process for ever."""
        self._thread = threading.Thread(target=self._run, daemon=True, name="sluice-commit")

    def start(self) -> None:
        """Take the identity over from whoever had it."""
        deadline_s = time.monotonic() + CONNECT_LIMIT_S
        while True:
            try:
                self._producer.init_transactions(CONNECT_LIMIT_S)
                break
            except KafkaException as error:
                # A broker that has just come up says for a while that it is not responsible.
                if not error.args[0].retriable() or time.monotonic() > deadline_s:
                    raise UnavailableError(f"the broker grants no transactions: {said(error)}") from None
                time.sleep(0.1)
        self._thread.start()

    @property
    def confirmed(self) -> Mapping[Partition, int]:
        """Committed offsets, as the broker confirmed them."""
        return self._confirmed

    def begun(self, partition: Partition, offset: int) -> None:
        """A partition is taken over at its committed offset."""
        with self._changed:
            self._confirmed[partition] = offset

    def submit(self, positions: Mapping[Partition, int]) -> None:
        """Everything before these positions is processed; returns at once."""
        with self._changed:
            self._wanted.update(positions)
            self._changed.notify_all()

    @property
    def rests(self) -> bool:
        """No commit is under way."""
        return not self._busy

    def rest(self, limit_s: float) -> bool:
        """Begin no commit for so long, but that of a partition that parts; whether none is under way."""
        with self._changed:
            self._rest_until_s = time.monotonic() + limit_s
            return self.rests

    def part(self, offsets: Mapping[Partition, int | None], then: Callable[[Partition, int | None], None]) -> None:
        """The last commit of these partitions: at once, and `then` for each that is done. Returns at once."""
        with self._changed:
            for partition, offset in offsets.items():
                if offset is not None:
                    self._wanted[partition] = offset
                self._parting[partition] = partial(then, partition, offset)
            self._changed.notify_all()

    def wait_parted(self, over: Callable[[], bool]) -> None:
        """Until nothing is parting any more, or `over` says that it no longer matters."""
        with self._changed:
            while self._parting and not self.fenced and not over():
                self._changed.wait(0.05)

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _open(self) -> dict[Partition, int]:
        return {p: offset for p, offset in self._wanted.items() if offset > self._confirmed.get(p, -1)}

    def _run(self) -> None:
        ended_s = 0.0
        while not self._closing and not self.fenced:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._parting or self._open())
                while not (self._closing or self._parting):
                    rest_s = max(ended_s + INTERVAL_S, self._rest_until_s) - time.monotonic()
                    if rest_s <= 0:
                        break
                    self._changed.wait(rest_s)
                offsets = self._open()
                self._busy = bool(offsets)
            # Without a lease nothing may be committed; it may come back, so the offsets stay wanted.
            if offsets and not self._may_commit():
                self._busy = False
                time.sleep(INTERVAL_S)
                continue
            try:
                if offsets and not self._transact(offsets):
                    continue
            except KafkaException as error:
                _log.error("fenced: %s", said(error))
                self.fenced = True
            else:
                ended_s = time.monotonic()
                self._settle(offsets)
            finally:
                self._busy = False

    def _settle(self, offsets: Mapping[Partition, int]) -> None:
        with self._changed:
            self._confirmed.update(offsets)
            still_open = self._open()
            parted = {p: then for p, then in self._parting.items() if p not in still_open}
            for partition in parted:
                del self._parting[partition]
                self._wanted.pop(partition, None)
                self._confirmed.pop(partition, None)
        for then in parted.values():
            then()
        with self._changed:
            self._changed.notify_all()

    def _transact(self, offsets: Mapping[Partition, int]) -> bool:
        places = [TopicPartition(p.topic, p.number, offset) for p, offset in offsets.items()]
        self._producer.begin_transaction()
        if self._insist(
            lambda: self._producer.send_offsets_to_transaction(places, self._group_metadata, CALL_LIMIT_S)
        ) and self._insist(lambda: self._producer.commit_transaction(CALL_LIMIT_S)):
            return True
        self._insist(lambda: self._producer.abort_transaction(CALL_LIMIT_S))
        return False

    def _insist(self, call: Callable[[], Any]) -> bool:
        """Call until it is done; False when the transaction must be given up. A fatal error goes up."""
        while True:
            try:
                call()
            except KafkaException as error:
                problem: KafkaError = error.args[0]
                if not problem.fatal() and (problem.txn_requires_abort() or self._closing):
                    return False
                if not problem.retriable():
                    raise
            else:
                return True
