"""The simulated world: topics, groups and virtual time."""

import numpy as np

from sluice.errors import InputError
from sluice.model import Partition
from sluice.model.values import FloatArray, IntArray
from sluice.simulate.group import SimulatedGroup
from sluice.simulate.result import PathResult
from sluice.simulate.routes import Routes, Tally, Written, ends, ways_to
from sluice.simulate.spec import GroupSpec, Output, WorldSpec
from sluice.simulate.state import Arriving
from sluice.simulate.stream import Events, EventStream, generator


class World:
    """Everything that happens up to `now_s`; moves on only when told to."""

    def __init__(self, spec: WorldSpec, *, seed: int, exact: bool = True) -> None:
        self.spec = spec
        self.now_s = 0.0
        partitions = {s.topic: s.partitions for s in spec.sources}
        partitions |= {g.output.topic: g.output.partitions for g in spec.groups if g.output}
        ordered = _upstream_first(spec)
        self._ways = ways_to(ordered)
        self._ends = ends(ordered)
        self._routes = {g.name: Routes(g, ordered, self._ways) for g in ordered if len(self._ways[g.name]) > 1}
        self._tallies = {name: Tally(self._limits_s(name)) for name in self._routes if name in self._ends}
        # By name, not by the order of the file: the order something is written in never changes a result.
        self._streams = {s.topic: EventStream(s, seed) for s in sorted(spec.sources, key=lambda s: s.topic)}
        self._relays = {g.output.topic: _Relay(g.output, seed) for g in spec.groups if g.output}
        self._feeds = {g.name: _Feed(g, partitions, seed, self._routes.get(g.name)) for g in spec.groups}
        self.groups = {
            g.name: SimulatedGroup(
                g,
                tuple(Partition(topic, i) for topic in sorted(g.topics) for i in range(partitions[topic])),
                generator(seed, "group", g.name),
                objective_s=self._limits_s(g.name)[0] if g.name in self._ends else spec.objective_s,
                exact=exact,
                watched=g.name in self._tallies,
            )
            for g in ordered
        }

    def paths(self, name: str) -> tuple[PathResult, ...]:
        """How the events of each path that ends at this group have fared so far; none if it feeds others."""
        if name not in self._ends:
            return ()
        counted = self._tallies[name].rows() if name in self._tallies else [self.groups[name].state.served()]
        return tuple(
            PathResult(
                stages=way,
                objective_s=limit_s,
                events=int(events),
                late_events=int(late),
                mean_s=latency_s / events if events else float("nan"),
            )
            for way, limit_s, (events, late, latency_s) in zip(
                self._ways[name], self._limits_s(name), counted, strict=True
            )
        )

    def _limits_s(self, name: str) -> list[float]:
        return [self.spec.path_objectives_s.get(way, self.spec.objective_s) for way in self._ways[name]]

    def advance(self, until_s: float) -> None:
        """Let everything happen that starts before `until_s`."""
        written: dict[str, Written] = {}
        for topic, stream in self._streams.items():
            events = stream.take(until_s)
            written[topic] = Written(events, events.time_s)
        for name, group in self.groups.items():
            group.advance(until_s, self._feeds[name].arriving(written))
            output, tally = group.spec.output, self._tallies.get(name)
            if output is None and tally is None:
                continue
            finish_s, born_s, number = group.state.take_written()
            way = self._routes[name].of(number) if name in self._routes else np.zeros(len(number), dtype=np.int64)
            if tally is not None:
                tally.add(finish_s - born_s, way)
            if output is not None:
                written[output.topic] = self._relays[output.topic].take(finish_s, born_s, way, until_s)
        self.now_s = until_s

    def finish(self) -> None:
        """Serve whatever is left and whatever still arrives."""
        self.advance(np.inf)


def arrivals_of(spec: WorldSpec, name: str, seed: int) -> Arriving:
    """All that ever arrives at a group which only outside producers feed, as a run with this seed sees it."""
    group = next(g for g in spec.groups if g.name == name)
    sources = [s for s in spec.sources if s.topic in group.topics]
    written = {s.topic: EventStream(s, seed).take(np.inf) for s in sources}
    feed = _Feed(group, {s.topic: s.partitions for s in sources}, seed, None)
    return feed.arriving({topic: Written(events, events.time_s) for topic, events in written.items()})


class _Feed:
    """Turns what was written to a group's topics into its arrivals."""

    def __init__(self, spec: GroupSpec, partitions: dict[str, int], seed: int, routes: Routes | None) -> None:
        self._routes = routes
        self._service = spec.service
        self._random = generator(seed, "service", spec.name)
        self._topics = sorted(spec.topics)
        counts = [partitions[topic] for topic in self._topics]
        self._first = dict(zip(self._topics, np.cumsum([0, *counts[:-1]]).tolist(), strict=True))

    def arriving(self, written: dict[str, Written]) -> Arriving:
        if len(self._topics) == 1:
            events, born_s, _ = written[self._topics[0]]
            if self._routes is not None:
                self._routes.arrive(self._topics, written, None)
            service_s = self._service.draw(len(born_s), events.size_bytes, self._random)
            return Arriving(events.time_s, born_s, events.partition, events.size_bytes, service_s)
        mine = [written[topic] for topic in self._topics]
        time_s = np.concatenate([each.events.time_s for each in mine])
        order = np.argsort(time_s, kind="stable")
        if self._routes is not None:
            self._routes.arrive(self._topics, written, order)
        size_bytes = np.concatenate([each.events.every_size_bytes() for each in mine])[order]
        partition = np.concatenate(
            [each.events.partition + self._first[t] for t, each in zip(self._topics, mine, strict=True)]
        )
        born_s = np.concatenate([each.born_s for each in mine])[order]
        service_s = self._service.draw(len(order), size_bytes, self._random)
        return Arriving(time_s[order], born_s, partition[order], size_bytes, service_s)


class _Relay:
    """What a group writes to its output topic, in order of time; what it finishes later is kept back."""

    def __init__(self, output: Output, seed: int) -> None:
        self._chooser = output.choice.chooser(output.partitions, generator(seed, "choice", output.topic))
        self._sizes = output.sizes
        self._random = generator(seed, "sizes", output.topic)
        self._time_s: FloatArray = np.empty(0)
        self._born_s: FloatArray = np.empty(0)
        self._way: IntArray = np.empty(0, dtype=np.int64)

    def take(self, finish_s: FloatArray, birth_s: FloatArray, ways: IntArray, until_s: float) -> Written:
        time_s = np.concatenate((self._time_s, finish_s))
        born_s = np.concatenate((self._born_s, birth_s))
        order = np.lexsort((born_s, time_s))
        time_s, born_s, way = time_s[order], born_s[order], np.concatenate((self._way, ways))[order]
        now = int(np.searchsorted(time_s, until_s))
        self._time_s, self._born_s, self._way = time_s[now:], born_s[now:], way[now:]
        partition: IntArray = self._chooser.next(now)
        return Written(Events(time_s[:now], partition, self._sizes.draw(now, self._random)), born_s[:now], way[:now])


def _upstream_first(spec: WorldSpec) -> list[GroupSpec]:
    """Groups in an order in which each one comes after those that feed it; by name where it does not matter."""
    written = {s.topic for s in spec.sources}
    waiting = sorted(spec.groups, key=lambda g: g.name)
    ordered: list[GroupSpec] = []
    while waiting:
        ready = [g for g in waiting if written.issuperset(g.topics)]
        if not ready:
            names = ", ".join(g.name for g in waiting)
            raise InputError(f"groups {names} feed each other in a circle; a topology has no cycles")
        ordered += ready
        written |= {g.output.topic for g in ready if g.output}
        waiting = [g for g in waiting if g not in ready]
    return ordered
