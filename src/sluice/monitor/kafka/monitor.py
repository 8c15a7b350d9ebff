"""One look at every observed group: the requests overlap and share one time limit."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from sluice.errors import InputError, UnavailableError
from sluice.model import Assignment, Partition, Snapshot
from sluice.model.values import floats, frozen
from sluice.monitor.kafka.cluster import check_group, connect, partitions_of
from sluice.monitor.kafka.described import FAILURES, Describer
from sluice.monitor.kafka.members import members_standing
from sluice.monitor.kafka.offsets import OffsetReader
from sluice.monitor.kafka.reports import Heard, ReportReader
from sluice.monitor.kafka.source import GroupSource, Ownership
from sluice.monitor.kafka.standing import (
    Standing,
    carried_over,
    consumer_reports,
    newest,
    processed_positions,
    reported_standing,
)

# Partitions can be added to a topic while it is read; nobody needs to know at once.
TOPICS_EVERY_S = 10.0
# A leader may have moved: the client would find out by itself only minutes later.
TOPICS_AGAIN_S = 2.0
_T = TypeVar("_T")


@dataclass(slots=True)
class _Watched:
    """One group and what was last known of it."""

    source: GroupSource
    offsets: OffsetReader
    reports: ReportReader
    partitions: tuple[Partition, ...]
    last: Assignment
    looked_s: float
    members: Standing | None = None
    whole: bool = True
    """The last look found every end offset."""


class KafkaMonitor:
    """Observes groups of one cluster.

    Construction fails with one clear line when the broker, a topic or a group is not there. From then on nothing
    escapes `observe`: what cannot be read within `limit_s` is unknown, and the group is not settled.
    """

    def __init__(
        self,
        bootstrap: str,
        sources: Sequence[GroupSource],
        *,
        client: Mapping[str, str] | None = None,
        limit_s: float = 2.0,
        groups_exist: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        settings = dict(client or {})
        self._limit_s = limit_s
        self._now = now
        admin = connect(bootstrap, settings)
        found = [partitions_of(admin, source.topics, limit_s=limit_s) for source in sources]
        for source in sources:
            check_group(admin, source.group, must_exist=groups_exist, limit_s=limit_s)
        self._watched = [
            _Watched(
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
            self._refresh_partitions(watched, now_s)
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
        watched: _Watched,
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
        standing = self._standing(watched, now_s, heard, members, deadline, answered=answered)
        watched.last = standing.assignment
        known_sizes = _result(sizes, deadline)
        return Snapshot(
            group=source.group,
            time_s=now_s,
            assignment=standing.assignment,
            end_events=frozen(end),
            committed_events=frozen(committed),
            processed_events=processed_positions(heard, standing.assignment, committed),
            start_events=frozen(start),
            end_bytes=None if known_sizes is None else floats([known_sizes.get(p, np.nan) for p in partitions]),
            lag_basis=source.lag_basis,
            reports=consumer_reports(heard, standing.assignment),
            pause_s=newest(heard, "pause_s"),
            startup_s=newest(heard, "startup_s"),
            settled=standing.settled,
        )

    def _standing(
        self,
        watched: _Watched,
        now_s: float,
        heard: Mapping[str, Heard],
        members: Future[dict[str, Any]] | None,
        deadline: float,
        *,
        answered: bool,
    ) -> Standing:
        source, reports = watched.source, watched.reports
        age_s = {name: now_s - each.time_s for name, each in heard.items()}
        if source.ownership is Ownership.GROUP:
            described = (_result(members, deadline) or {}).get(source.group)
            standing = members_standing(described, watched.partitions, watched.last)
            watched.members = None if described is None else standing
            consumers = standing.assignment.consumers
            for name in age_s.keys() - set(consumers) if standing.settled else ():
                reports.forget(name)  # no member any more
            silent = any(age_s[name] > source.silence_s for name in consumers if name in age_s)
            lost = bool(age_s) and not (answered and reports.partitions)
            return Standing(assignment=standing.assignment, settled=standing.settled and not silent and not lost)
        if not answered or not reports.partitions:
            return Standing(assignment=carried_over(watched.last, watched.partitions), settled=False)
        for name in [name for name, silent_s in age_s.items() if silent_s > source.lease_s]:
            reports.forget(name)
        uncertain = any(source.silence_s < silent_s <= source.lease_s for silent_s in age_s.values())
        return Standing(assignment=reported_standing(heard, watched.partitions), settled=not uncertain)

    def _refresh_partitions(self, watched: _Watched, now_s: float) -> None:
        if now_s - watched.looked_s < (TOPICS_EVERY_S if watched.whole else TOPICS_AGAIN_S):
            return
        watched.looked_s = now_s
        # A topic that is gone, or a broker that is away: the known partitions stay, and their offsets will be unknown.
        with suppress(InputError, UnavailableError):
            watched.partitions = watched.offsets.partitions(watched.source.topics, limit_s=self._limit_s)


def _result(future: Future[_T] | None, deadline: float) -> _T | None:
    """What a request brought by the deadline; None when it failed, hangs, or was not made."""
    if future is None:
        return None
    try:
        return future.result(max(deadline - time.monotonic(), 0.0))
    except FAILURES:
        return None
