"""The groups as `sluice pipeline telemetry` sees them: its workload topics are read, the broker is not asked."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from confluent_kafka import Consumer, KafkaException, TopicPartition

from sluice.errors import InputError, UnavailableError
from sluice.model import Assignment, Partition, Snapshot, replace
from sluice.model.stream_snapshot import from_message, workload_topic
from sluice.model.values import floats
from sluice.monitor.kafka.cluster import client_settings, connect, partitions_of
from sluice.monitor.kafka.source import GroupSource
from sluice.monitor.kafka.standing import Standing

_READ_AT_ONCE = 1000


@dataclass(slots=True)
class _Followed:
    source: GroupSource
    last: Snapshot
    heard_s: float
    """By our own clock: clocks of two machines are never compared."""
    fresh: bool = False


class StreamMonitor:
    """Observes groups through the snapshots that the telemetry stream publishes.

    What was published before the start is not used: nobody knows how old it is. A group of which nothing new has come
    is left out of the look; when nothing has come for `stale_s` it is unknown, and not settled.

    `commanded` says who should own what, where somebody commands a group: it is settled when the stream shows that.
    """

    def __init__(
        self,
        bootstrap: str,
        sources: Sequence[GroupSource],
        *,
        client: Mapping[str, str] | None = None,
        limit_s: float = 2.0,
        stale_s: float = 30.0,
        commanded: Callable[[str, tuple[Partition, ...]], Standing | None] = lambda *_: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        settings = dict(client or {})
        self._stale_s, self._commanded, self._now = stale_s, commanded, now
        admin = connect(bootstrap, settings)
        topics = admin.list_topics(timeout=limit_s).topics
        begun_s = now()
        self._followed: dict[str, _Followed] = {}
        for source in sources:
            partitions = partitions_of(admin, source.topics, limit_s=limit_s)
            if workload_topic(source.group) not in topics:
                raise InputError(
                    f"topic {workload_topic(source.group)!r} does not exist; start `sluice pipeline telemetry` for "
                    f"group {source.group!r} first, or set control.monitor to broker"
                )
            self._followed[workload_topic(source.group)] = _Followed(source, _unknown(source, partitions), begun_s)
        self._consumer = Consumer(
            {
                **client_settings(bootstrap, settings),
                # Nothing is ever committed: every reader sees every snapshot.
                "group.id": "__sluice.stream.reader",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 100,
                "allow.auto.create.topics": False,
            }
        )
        self._consumer.assign([self._end(topic, limit_s) for topic in self._followed])

    def observe(self) -> tuple[Snapshot, ...]:
        now_s = self._now()
        self._drain(now_s)
        looks = (self._look(each, now_s) for each in self._followed.values())
        return tuple(snapshot for snapshot in looks if snapshot is not None)

    def close(self) -> None:
        self._consumer.close()

    def _end(self, topic: str, limit_s: float) -> TopicPartition:
        try:
            _, end = self._consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=limit_s)
        except KafkaException as error:
            raise UnavailableError(f"topic {topic!r} cannot be read: {error.args[0].str()}; try again") from None
        return TopicPartition(topic, 0, end)

    def _drain(self, now_s: float) -> None:
        try:
            while messages := self._consumer.consume(_READ_AT_ONCE, timeout=0):
                for message in messages:
                    if message.error() is None:
                        self._keep(str(message.topic()), message.value() or b"", now_s)
        except KafkaException:
            return  # what is not heard grows stale

    def _keep(self, topic: str, message: bytes, now_s: float) -> None:
        followed = self._followed[topic]
        try:
            snapshot = from_message(message)
        except InputError:
            return  # of another version: as if nothing had come
        # A batch that is done again after a crash publishes again what is known already.
        if snapshot.group == followed.source.group and snapshot.time_s > followed.last.time_s:
            followed.last = replace(snapshot, lag_basis=followed.source.lag_basis)
            followed.heard_s, followed.fresh = now_s, True

    def _look(self, followed: _Followed, now_s: float) -> Snapshot | None:
        last = followed.last
        commanded = self._commanded(followed.source.group, last.partitions)
        if now_s - followed.heard_s > self._stale_s:
            gone = floats(np.full(len(last.partitions), np.nan))
            return replace(
                last, time_s=now_s, end_events=gone, committed_events=gone, processed_events=None, settled=False
            )
        if followed.fresh:
            followed.fresh = False
            agreed = commanded is None or (commanded.settled and _same(commanded.assignment, last.assignment))
            return last if agreed else replace(last, settled=False)
        # A change that is under way must be driven on, news or not.
        driven = np.isfinite(last.time_s) and commanded is not None and not commanded.settled
        return replace(last, settled=False) if driven else None


def _unknown(source: GroupSource, partitions: tuple[Partition, ...]) -> Snapshot:
    """Before anything was heard."""
    gone = floats(np.full(len(partitions), np.nan))
    return Snapshot(
        group=source.group,
        time_s=-np.inf,
        assignment=Assignment.of({}, partitions=partitions),
        end_events=gone,
        committed_events=gone,
        lag_basis=source.lag_basis,
        settled=False,
    )


def _same(one: Assignment, other: Assignment) -> bool:
    def held(assignment: Assignment) -> dict[str, frozenset[Partition]]:
        return {name: frozenset(mine) for name, mine in assignment.owned().items()}

    return held(one) == held(other)
