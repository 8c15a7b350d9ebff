"""Who read what, and since when: the assignment history of a run, as the journal has it."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from sluice.errors import InputError
from sluice.model import NOBODY, Decision, Partition, Snapshot

TO_THE_END = np.iinfo(np.int64).max


class Segment(NamedTuple):
    """`consumer` read the events `from_event` to `to_event` (not included) of a partition, none before `readable_s`."""

    consumer: str
    partition: int
    from_event: int
    to_event: int
    readable_s: float


class Work(NamedTuple):
    """All that one consumer read: what one task computes."""

    consumer: str
    segments: tuple[Segment, ...]


def static_history(partitions: int, consumers: int) -> tuple[Segment, ...]:
    """Partitions dealt out one after the other, for the whole run."""
    if not 1 <= consumers <= partitions:
        raise InputError(
            f"consumers is {consumers}; give at least 1 and at most one for each of {partitions} partitions"
        )
    width = len(str(consumers - 1))
    return tuple(Segment(f"c{p % consumers:0{width}}", p, 0, TO_THE_END, 0.0) for p in range(partitions))


def history_of(decisions: Iterable[Decision], group: str | None = None) -> tuple[Segment, ...]:
    """The assignment history in a journal. A change that was still under way when the journal ends is not in it.

    Live, a consumer that owned a partition for less than its reports' interval told nobody where it began: what it read
    counts as its predecessor's.
    """
    history = _History()
    name = group
    for decision in decisions:
        if name is None:
            name = decision.group
        if decision.group == name:
            history.add(decision.snapshot)
        elif group is None:
            raise InputError(
                f"the journal holds several groups, {name!r} and {decision.group!r}; name one with --group"
            )
    if history.silent_s is not None and not history.opened:
        raise InputError(
            f"the journal's snapshot at {history.silent_s} s does not say from where each owner reads "
            "(owned_from_events, owned_since_s), nor does any other; use a journal whose consumers report it"
        )
    if not history.opened:
        raise InputError("the journal has no decision of the group" + (f" {group!r}" if group else ""))
    return history.segments()


def work_of(history: Sequence[Segment]) -> tuple[Work, ...]:
    """The history by consumer."""
    ordered = sorted(history, key=lambda s: (s.consumer, s.partition, s.from_event))
    return tuple(Work(name, tuple(mine)) for name, mine in groupby(ordered, key=lambda s: s.consumer))


class _History:
    def __init__(self) -> None:
        self.opened: dict[int, list[tuple[int, float, str]]] = {}
        self.silent_s: float | None = None
        """When it was first not known who reads from where."""
        self._topic: str | None = None
        self._alive: dict[str, int] = {}
        """How often each name has been started; a name that was away is another consumer."""
        self._now: frozenset[str] = frozenset()

    def add(self, snapshot: Snapshot) -> None:
        assignment = snapshot.assignment
        from_events, since_s = snapshot.owned_from_events, snapshot.owned_since_s
        if from_events is None or since_s is None:
            # A live monitor knows it as soon as the consumers have reported.
            self.silent_s = snapshot.time_s if self.silent_s is None else self.silent_s
            return
        for name in frozenset(assignment.consumers) - self._now:
            self._alive[name] = self._alive.get(name, 0) + 1
        self._now = frozenset(assignment.consumers)
        for i in np.flatnonzero((assignment.owner != NOBODY) & np.isfinite(from_events)).tolist():
            partition = assignment.partitions[i]
            self._one_topic(partition)
            start = (int(from_events[i]), float(since_s[i]))
            mine = self.opened.setdefault(partition.number, [])
            if not mine or mine[-1][:2] != start:
                name = assignment.consumers[assignment.owner[i]]
                run = self._alive[name]
                mine.append((*start, name if run == 1 else f"{name}#{run}"))

    def segments(self) -> tuple[Segment, ...]:
        return tuple(
            Segment(consumer, partition, start, end, readable_s)
            for partition, starts in sorted(self.opened.items())
            for (start, readable_s, consumer), end in zip(
                starts, [*(s[0] for s in starts[1:]), TO_THE_END], strict=True
            )
            if end > start
        )

    def _one_topic(self, partition: Partition) -> None:
        if self._topic is None:
            self._topic = partition.topic
        if partition.topic != self._topic:
            raise InputError(
                f"the group reads {self._topic!r} and {partition.topic!r}; "
                "latencies are computed for groups that read one topic"
            )
