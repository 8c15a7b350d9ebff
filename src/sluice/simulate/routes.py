"""Which way through the groups each event has come, and how the events of each way fared.

Almost every group can be reached in one way only, and then nothing is kept of single events. Where ways meet, each
event's is remembered by its number.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate.kernel import TOLERANCE_S
from sluice.simulate.spec import GroupSpec
from sluice.simulate.stream import Events

Way = tuple[str, ...]

ONLY: IntArray = np.zeros(1, dtype=np.int64)
"""All have come the same way."""


class Written(NamedTuple):
    """What was written to a topic; `way` is one of those to its writer, and one entry may stand for all."""

    events: Events
    born_s: FloatArray
    way: IntArray = ONLY


def ways_to(groups: Sequence[GroupSpec]) -> dict[str, tuple[Way, ...]]:
    """Every way from outside to each group, the group included; `groups` are in an order in which they feed others."""
    writer = {group.output.topic: group.name for group in groups if group.output}
    found: dict[str, tuple[Way, ...]] = {}
    for group in groups:
        before = [way for topic in sorted(group.topics) for way in _before(topic, writer, found)]
        found[group.name] = tuple(dict.fromkeys((*way, group.name) for way in before))
    return found


def ends(groups: Sequence[GroupSpec]) -> frozenset[str]:
    """The groups that feed nobody: there a path ends."""
    read = {topic for group in groups for topic in group.topics}
    return frozenset(g.name for g in groups if g.output is None or g.output.topic not in read)


def _before(topic: str, writer: Mapping[str, str], found: Mapping[str, tuple[Way, ...]]) -> tuple[Way, ...]:
    return found[writer[topic]] if topic in writer else ((),)


class Routes:
    """The way of every event of one group that can be reached in several."""

    def __init__(self, group: GroupSpec, groups: Sequence[GroupSpec], ways: Mapping[str, tuple[Way, ...]]) -> None:
        writer = {each.output.topic: each.name for each in groups if each.output}
        mine = ways[group.name]
        self._onward = {
            topic: np.array([mine.index((*way, group.name)) for way in _before(topic, writer, ways)])
            for topic in group.topics
        }
        self._way = np.empty(1024, dtype=np.int64)
        self._count = 0

    def arrive(self, topics: Sequence[str], written: Mapping[str, Written], order: IntArray | None) -> None:
        """Note what arrives: topic after topic, then put in `order`."""
        each = [np.broadcast_to(self._onward[t][written[t].way], len(written[t].born_s)) for t in topics]
        ways = np.concatenate(each) if order is None else np.concatenate(each)[order]
        after = self._count + len(ways)
        if after > len(self._way):
            self._way = np.concatenate((self._way, np.empty(after, dtype=np.int64)))
        self._way[self._count : after] = ways
        self._count = after

    def of(self, number: IntArray) -> IntArray:
        return self._way[number]


class Tally:
    """Events, late ones and latencies by way, at a group where several end."""

    def __init__(self, limits_s: Sequence[float]) -> None:
        self._limits_s = np.array(limits_s)
        # One row for each way: events, late ones, sum of latencies.
        self._counted = np.zeros((len(limits_s), 3))

    def add(self, latency_s: FloatArray, way: IntArray) -> None:
        count = len(self._counted)
        late = latency_s > self._limits_s[way] + TOLERANCE_S
        self._counted[:, 0] += np.bincount(way, minlength=count)
        self._counted[:, 1] += np.bincount(way[late], minlength=count)
        self._counted[:, 2] += np.bincount(way, weights=latency_s, minlength=count)

    def rows(self) -> list[tuple[float, float, float]]:
        """(events, late ones, sum of latencies) of each way."""
        return [(float(events), float(late), float(sum_s)) for events, late, sum_s in self._counted]
