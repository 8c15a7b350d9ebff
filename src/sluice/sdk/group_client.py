"""A member of the group: reads, commits and joins through kafka-python, one thread, never blocked for long."""

import logging
import time
from collections.abc import Iterable
from typing import Any

from kafka.consumer.subscription_state import AsyncConsumerRebalanceListener
from kafka.errors import KafkaError
from kafka.structs import MemberState, OffsetAndMetadata, TopicPartition

from sluice.model import Partition
from sluice.model.telemetry import Begun
from sluice.sdk import group_private
from sluice.sdk.event import Event
from sluice.sdk.group_assignor import PlannedAssignor
from sluice.sdk.group_connect import forget_claims
from sluice.sdk.group_takeover import Takeovers, mark

NO_GENERATION = -1
# While it joins a member looks this often whether the round is through.
JOINING_LOOK_S = 0.01

_log = logging.getLogger("sluice.group")


class GroupClient:
    """`positions` (next offset of each partition, everything before it processed) is the caller's; it is what is
    committed, and a partition that was taken away disappears from it, and from `begun`, which is the caller's too."""

    def __init__(
        self,
        consumer: Any,
        *,
        topics: Iterable[str],
        assignor: Any,
        cooperative: bool,
        session_s: float,
        positions: dict[Partition, int],
        begun: dict[Partition, Begun],
    ) -> None:
        self._consumer = consumer
        self._assignor = assignor
        self._cooperative = cooperative
        self._session_s = session_s
        self._positions = positions
        self._begun = begun
        self._owned: frozenset[Partition] = frozenset()
        self._taken: set[Partition] = set()
        self._confirmed: dict[Partition, int] = {}
        self._in_flight = False
        self._generation = NO_GENERATION
        self._heard_s = time.monotonic()
        """When the broker certainly still counted this member in."""
        self._takeovers = Takeovers()
        self.pause_s: float | None = None
        """How long the partition that came last stood still; None while that is not known of any."""
        group_private.drop_all_when_evicted(consumer)
        consumer.subscribe(topics=list(topics), listener=_Listener(self))

    @property
    def owned(self) -> frozenset[Partition]:
        return self._owned

    @property
    def confirmed(self) -> dict[Partition, int]:
        """Committed offsets, as the broker confirmed them."""
        return self._confirmed

    @property
    def applied_version(self) -> int | None:
        """Of the plan the assignment in force was made from; None without one."""
        return self._assignor.applied_version if isinstance(self._assignor, PlannedAssignor) else None

    @property
    def joined(self) -> bool:
        return self._consumer.group_metadata().state is MemberState.STABLE

    @property
    def joining(self) -> bool:
        return self._consumer.group_metadata().state is MemberState.REBALANCING

    def wanted(self) -> bool:
        """The group waits for this member to begin or to end a join."""
        return group_private.join_waits_for_us(self._consumer)

    def cut_off(self) -> bool:
        """Somebody else may own its partitions by now: nothing more may be worked on until the broker has answered."""
        beat_s = group_private.answered_heartbeat_s(self._consumer)
        if beat_s is not None and beat_s > self._heard_s:
            self._heard_s = beat_s
        return time.monotonic() - self._heard_s > self._session_s

    def rejoin(self) -> None:
        group_private.request_rejoin(self._consumer)

    def poll(self, max_events: int, limit_s: float) -> list[Event]:
        """New events, in their partitions' order; none while an eager join is under way."""
        began_s, was_cut_off = time.monotonic(), self.cut_off()
        reads_on = self._cooperative and bool(self._owned)
        waits_s = 0.0 if reads_on and (self.joining or self.wanted()) else limit_s
        records = group_private.poll(self._consumer, max_events, waits_s)
        self._listen(began_s, was_cut_off)
        if not records and reads_on and self.joining:
            records = group_private.fetch_while_joining(self._consumer, max_events, JOINING_LOOK_S)
        events = [_event(record) for held in records.values() for record in held]
        if unread := self._takeovers.unread:
            for theirs, text in group_private.committed_texts(self._consumer, [TopicPartition(*p) for p in unread]):
                self._takeovers.read(Partition(theirs.topic, theirs.partition), text)
        self.pause_s = self._takeovers.pause_s(events, time.time()) or self.pause_s
        return events

    def join_step(self, limit_s: float) -> None:
        """Begin, continue or end a join without reading on: between two events of a batch."""
        began_s, was_cut_off = time.monotonic(), self.cut_off()
        group_private.join_step(self._consumer, 0.0 if self._cooperative else limit_s)
        self._listen(began_s, was_cut_off)

    def taken(self) -> set[Partition]:
        """The partitions that were taken away since the last call: what is in hand of them is another's now."""
        taken, self._taken = self._taken, set()
        return taken

    def commit(self) -> None:
        """Have the positions committed; returns at once, and one request at a time is under way."""
        if self._in_flight or self.joining:
            return
        due = self._offsets(p for p, position in self._positions.items() if self._confirmed.get(p) != position)
        if due:
            self._in_flight = True
            self._consumer.commit_async(due, callback=self._committed)

    def close(self, limit_s: float) -> None:
        """Commit what is processed, leave the group, so that the others take over at once."""
        self._consumer.close(autocommit=False, timeout_ms=limit_s * 1000.0)

    def _listen(self, began_s: float, was_cut_off: bool) -> None:
        """A join that came through is a sign of the broker. During one there are no heartbeats, and it keeps a place
        for whoever is on time: who slept through a session was late."""
        known = self._consumer.group_metadata()
        if known.state is MemberState.STABLE and known.generation_id != self._generation:
            self._generation, self._heard_s = known.generation_id, max(self._heard_s, began_s)
        elif known.state is not MemberState.STABLE and not was_cut_off:
            self._heard_s = max(self._heard_s, began_s)

    def _offsets(self, partitions: Iterable[Partition]) -> dict[Any, Any]:
        text = mark(time.time())
        return {TopicPartition(*p): OffsetAndMetadata(self._positions[p], text, -1) for p in partitions}

    def _committed(self, offsets: dict[Any, Any], answer: object) -> None:
        self._in_flight = False
        if isinstance(answer, Exception):
            # Nothing is lost: the positions are still due, and the next commit or the next owner deals with them.
            _log.info("commit postponed: %s", answer)
            return
        for theirs, committed in offsets.items():
            partition = Partition(theirs.topic, theirs.partition)
            if partition in self._positions:
                self._confirmed[partition] = committed.offset

    # The rest is called by the client's own thread, while the caller's waits in `poll`, `join_step` or `close`.

    async def _revoked(self, partitions: Iterable[Partition]) -> None:
        # Even what is committed already: the commit tells the next owner when this one let go.
        due = self._offsets(p for p in partitions if p in self._positions)
        if due:
            try:
                await self._consumer.commit_async(due)
            except KafkaError as error:
                _log.warning("commit at revocation failed, the next owner repeats events: %s", error)
        if self._cooperative:
            self._drop(partitions)

    def _assigned(self, partitions: frozenset[Partition]) -> None:
        self._takeovers.begin(partitions - self._owned, time.time())
        self._begun.update(dict.fromkeys(partitions - self._owned, Begun(None, time.time())))
        if self._cooperative:
            self._owned |= partitions
        else:
            # Eager: the whole new share; what is not in it is another's.
            self._drop(self._owned - partitions)
            self._owned = partitions

    def _lost(self, partitions: Iterable[Partition]) -> None:
        self._drop(partitions)
        forget_claims(self._assignor)

    def _drop(self, partitions: Iterable[Partition]) -> None:
        gone = frozenset(partitions)
        group_private.forget_fetched_offsets(self._consumer)
        self._owned -= gone
        self._taken |= gone
        self._takeovers.end(gone)
        for partition in gone:
            self._positions.pop(partition, None)
            self._confirmed.pop(partition, None)
            self._begun.pop(partition, None)


class _Listener:
    """kafka-python's callbacks; coroutines, because a commit inside of them must not block the client's thread."""

    def __init__(self, client: GroupClient) -> None:
        self._client = client

    async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        await self._client._revoked(_partitions(revoked))

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        self._client._assigned(_partitions(assigned))

    async def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        self._client._lost(_partitions(lost))


AsyncConsumerRebalanceListener.register(_Listener)


def _partitions(theirs: Iterable[Any]) -> frozenset[Partition]:
    return frozenset(Partition(p.topic, p.partition) for p in theirs)


def _event(record: Any) -> Event:
    return Event(
        Partition(record.topic, record.partition),
        record.offset,
        record.key,
        record.value,
        record.timestamp / 1000.0 if record.timestamp is not None and record.timestamp >= 0 else float("nan"),
        tuple(record.headers),
    )
