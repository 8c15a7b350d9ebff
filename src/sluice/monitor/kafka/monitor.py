"""One look at every observed group: the requests overlap and share one time limit."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np

from sluice.model import Assignment, Partition, Snapshot
from sluice.model.values import floats, frozen
from sluice.monitor.kafka.cluster import check_group, connect, partitions_of
from sluice.monitor.kafka.described import FAILURES, Describer
from sluice.monitor.kafka.offsets import OffsetReader
from sluice.monitor.kafka.reports import ReportReader
from sluice.monitor.kafka.source import GroupSource, Ownership
from sluice.monitor.kafka.standing import Standing, consumer_reports, newest, ownership_history, processed_positions
from sluice.monitor.kafka.watched import Watched

_T = TypeVar("_T")


class KafkaMonitor:
    """Observes groups of one cluster.

    Construction fails with one clear line when the broker, a topic or a group is not there. From then on nothing
    escapes `observe`: what cannot be read within `limit_s` is unknown, and the group is not settled.

    `commanded` says who owns what in a managed group, where somebody commands it; the consumers' reports do otherwise.
    """

    def __init__(
        self,
        bootstrap: str,
        sources: Sequence[GroupSource],
        *,
        client: Mapping[str, str] | None = None,
        limit_s: float = 2.0,
        groups_exist: bool = False,
        commanded: Callable[[str, tuple[Partition, ...]], Standing | None] = lambda *_: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        settings = dict(client or {})
        self._limit_s = limit_s
        self._commanded = commanded
        self._now = now
        admin = connect(bootstrap, settings)
        found = [partitions_of(admin, source.topics, limit_s=limit_s) for source in sources]
        for source in sources:
            check_group(admin, source.group, must_exist=groups_exist, limit_s=limit_s)
        self._watched = [
            Watched(
                source=source,
                offsets=OffsetReader(bootstrap, settings, source.group),
                reports=ReportReader(
                    bootstrap,
                    settings,
                    group=source.group,
                    topic=source.reports_topic,
                    deaf_s=source.silence_s,
                    limit_s=limit_s,
                ),
                partitions=partitions,
                last=Assignment.of({}, partitions=partitions),
                looked_s=now(),
            )
            for source, partitions in zip(sources, found, strict=True)
        ]
        self._describer = Describer(bootstrap, settings, limit_s=limit_s)

    def observe(self) -> tuple[Snapshot, ...]:
        now_s = self._now()
        deadline = time.monotonic() + self._limit_s
        for watched in self._watched:
            watched.refresh_partitions(now_s, limit_s=self._limit_s)
        members = self._describer.members(
            [w.source.group for w in self._watched if w.source.ownership is Ownership.GROUP]
        )
        sizes = self._describer.sizes([p for w in self._watched for p in w.partitions])
        return tuple(self._look(watched, now_s, members, sizes, deadline) for watched in self._watched)

    def members(self, group: str) -> Standing | None:
        """A Kafka group's members as the broker showed them at the last look; None: it did not answer."""
        return next(watched.members for watched in self._watched if watched.source.group == group)

    def close(self) -> None:
        self._describer.close()
        for watched in self._watched:
            watched.offsets.close()
            watched.reports.close()

    def _look(
        self,
        watched: Watched,
        now_s: float,
        members: Future[dict[str, Any]] | None,
        sizes: Future[dict[Partition, float]] | None,
        deadline: float,
    ) -> Snapshot:
        source, partitions, offsets = watched.source, watched.partitions, watched.offsets
        # Commits before ends: what is committed in between must not look like a commit past the end.
        committed = offsets.committed(partitions, deadline)
        end = offsets.end(partitions, deadline)
        start = offsets.start(partitions, deadline)
        watched.whole = bool(np.isfinite(end.sum()))
        # The reports' own topic must answer, else silence would look like death; without a topic any answer will do.
        answered = watched.whole
        if answered and watched.reports.partitions:
            answered = bool(np.isfinite(offsets.end(watched.reports.partitions, deadline)).all())
        # Nothing committed yet: the group will begin where its settings say.
        committed = np.where(committed < 0, start if source.from_start else end, committed)
        heard = watched.reports.read(now_s, answered=answered)
        managed = source.ownership is Ownership.MANAGED
        standing = watched.standing(
            now_s,
            heard,
            described=None if managed else (_result(members, deadline) or {}).get(source.group),
            commanded=self._commanded(source.group, partitions) if managed else None,
            answered=answered,
        )
        watched.last = standing.assignment
        known_sizes = _result(sizes, deadline)
        owned_from_events, owned_since_s = ownership_history(heard, standing.assignment)
        return Snapshot(
            group=source.group,
            time_s=now_s,
            assignment=standing.assignment,
            end_events=frozen(end),
            committed_events=frozen(committed),
            processed_events=processed_positions(heard, standing.assignment, committed),
            start_events=frozen(start),
            end_bytes=None if known_sizes is None else floats([known_sizes.get(p, np.nan) for p in partitions]),
            owned_from_events=owned_from_events,
            owned_since_s=owned_since_s,
            lag_basis=source.lag_basis,
            reports=consumer_reports(heard, standing.assignment),
            pause_s=newest(heard, "pause_s"),
            startup_s=newest(heard, "startup_s"),
            settled=standing.settled,
        )


def _result(future: Future[_T] | None, deadline: float) -> _T | None:
    """What a request brought by the deadline; None when it failed, hangs, or was not made."""
    if future is None:
        return None
    try:
        return future.result(max(deadline - time.monotonic(), 0.0))
    except FAILURES:
        return None
