"""One consumer group in the simulated world: it reads on while its assignment changes."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sluice.model import NOBODY, Action, Assignment, Partition, Plan, Receipt
from sluice.model.assignment import fresh_names
from sluice.model.values import IntArray, floats, ints
from sluice.simulate.memory import ARRIVED, FREE_S, MAX_S, OWNER, WAITING
from sluice.simulate.rebalance import standstill
from sluice.simulate.spec import GroupSpec, Protocol
from sluice.simulate.state import Arriving, GroupState


class Ownership(NamedTuple):
    """From this offset on the partition was read by this consumer, which could not read it before `readable_s`."""

    partition: Partition
    consumer: str
    from_event: int
    readable_s: float


@dataclass(slots=True)
class _Change:
    """A new assignment that takes effect later: when new consumers are up and the others know of leavers."""

    at_s: float
    target: Assignment


class _Stop(NamedTuple):
    """Consumers that read on until they leave."""

    at_s: float
    names: tuple[str, ...]


class SimulatedGroup:
    """Consumers, their partitions and the change under way, if any."""

    def __init__(
        self,
        spec: GroupSpec,
        partitions: tuple[Partition, ...],
        random: np.random.Generator,
        *,
        objective_s: float,
        exact: bool,
        watched: bool = False,
    ) -> None:
        """`watched`: somebody asks for every event served, even if it goes nowhere."""
        self.spec = spec
        self._shared = spec.protocol.shared
        self.watched = watched
        self.state = GroupState(
            len(partitions),
            objective_s=objective_s,
            max_poll=spec.max_poll_events,
            whole=spec.finish_batch or self._shared,
            commit_s=spec.commit_s,
            exact=exact,
            writes=spec.output is not None or watched,
        )
        names = fresh_names((), spec.initial_consumers)
        owner = np.full(len(partitions), NOBODY) if self._shared else np.arange(len(partitions)) % len(names)
        self.assignment = Assignment(partitions=partitions, consumers=names, owner=ints(owner))
        """What was last commanded."""
        self._place: dict[str, int] = dict(zip(names, self.state.add_consumers(len(names)).tolist(), strict=True))
        self.state.group.partition_ints[OWNER] = owner
        self.places = self._serving = self._places_of(self.assignment)
        """Where the state keeps the consumers of the assignment."""
        self.history = [
            Ownership(p, names[o], 0, 0.0) for p, o in zip(partitions, owner.tolist(), strict=True) if o >= 0
        ]
        unknown = np.nan if self._shared else 0.0
        self.owned_from_events = floats(np.full(len(partitions), unknown))
        self.owned_since_s = floats(np.full(len(partitions), unknown))
        self.pause_s: float | None = None
        self.startup_s: float | None = None
        self._random = random
        self._change: _Change | None = None
        self._stopping: _Stop | None = None
        self._releases: list[float] = []

    def _places_of(self, assignment: Assignment) -> IntArray:
        return np.array([self._place[name] for name in assignment.consumers], dtype=np.int64)

    @property
    def settled(self) -> bool:
        """Nothing is under way."""
        return self._change is None and not self._releases

    def advance(self, until_s: float, arriving: Arriving) -> None:
        """Read on to `until_s`, through every change and every release on the way."""
        done = 0
        while (border_s := self._next_border_s()) < until_s:
            cut = int(np.searchsorted(arriving.time_s, border_s))
            self._serve(border_s, arriving.cut(done, cut))
            done = cut
            self._cross(border_s)
        self._serve(until_s, arriving.cut(done, len(arriving.time_s)) if done else arriving)

    def apply(self, plan: Plan, now_s: float) -> Receipt:
        """Start to carry the plan out."""
        target = plan.target
        if plan.action is Action.HOLD or target.same_as(self.assignment):
            return Receipt(time_s=now_s, action=Action.HOLD)
        joining = tuple(name for name in target.consumers if name not in self.assignment.consumers)
        leaving = tuple(name for name in self.assignment.consumers if name not in target.consumers)
        startup_s = self._start(joining)
        moved = int(self.assignment.moved(target).sum())
        delay_s = startup_s or 0.0
        if leaving and self.spec.protocol in (Protocol.EAGER, Protocol.COOPERATIVE):
            shutdown_s = self.spec.shutdown_s
            if shutdown_s > 0.0:
                self._stopping = _Stop(now_s + shutdown_s, leaving)
            else:
                self._stop(leaving)
            # The rebalance waits for the last of the others to hear of it.
            delay_s = max(delay_s, shutdown_s + self.spec.heartbeat_s)
        self._change = _Change(now_s + delay_s, target)
        self.assignment = target
        self.places = self._places_of(target)
        if delay_s == 0.0:
            self._cross(now_s)
        return Receipt(
            time_s=now_s,
            action=plan.action,
            complete=self._change is None,
            started=joining,
            stopped=leaving,
            moved_count=moved,
            pause_s=self.pause_s if self._change is None else None,
            startup_s=startup_s,
        )

    def _start(self, names: tuple[str, ...]) -> float | None:
        if not names:
            return None
        for name, place in zip(names, self.state.add_consumers(len(names)).tolist(), strict=True):
            self._place[name] = place
        low_s, high_s = self.spec.startup_s
        self.startup_s = max(self._random.uniform(low_s, high_s, len(names)).tolist())
        return self.startup_s

    def _stop(self, names: tuple[str, ...]) -> None:
        """The leavers finish the batch in work and read no more; nobody takes over yet."""
        gone = np.isin(self.state.group.partition_ints[OWNER], [self._place[name] for name in names])
        self.state.stop(np.flatnonzero(gone), np.full(len(gone), np.inf))

    def _next_border_s(self) -> float:
        change_s = self._change.at_s if self._change else np.inf
        if self._stopping:
            change_s = min(change_s, self._stopping.at_s)
        return min(change_s, self._releases[0]) if self._releases else change_s

    def _cross(self, now_s: float) -> None:
        if self._stopping and self._stopping.at_s <= now_s:
            self._stop(self._stopping.names)
            self._stopping = None
        if self._change and self._change.at_s <= now_s:
            self._carry_out(self._change, now_s)
            self._change = None
        while self._releases and self._releases[0] <= now_s:
            self._releases.pop(0)
        if not self._shared:
            self.state.release(now_s)

    def _carry_out(self, change: _Change, now_s: float) -> None:
        if self._shared:
            self._carry_out_shared(now_s)
            return
        state, spec, table = self.state, self.spec, self.state.group.partition_ints
        place = np.array([*(self._place[name] for name in change.target.consumers), NOBODY], dtype=np.int64)
        owner = place[change.target.owner]
        before = table[OWNER].copy()
        members = np.unique(before[before >= 0])
        stops, readable_s = standstill(
            spec.protocol, now_s, spec.rebalance_s, before, owner, state.group.consumer_floats[FREE_S], members
        )
        self.state.stop(np.flatnonzero(stops), readable_s)
        table[OWNER] = owner
        # The batches in work are not part of the pause: until they are committed they are lag already.
        self.pause_s = spec.rebalance_s * (2 if spec.protocol is Protocol.COOPERATIVE else 1)
        consumers, target = change.target.consumers, change.target
        for p in np.flatnonzero(stops).tolist():
            self.history.append(
                Ownership(
                    target.partitions[p],
                    consumers[target.owner[p]],
                    int(table[ARRIVED, p] - table[WAITING, p]),
                    float(readable_s[p]),
                )
            )
        # Made anew at a change, so that snapshots of all ticks in between can share them.
        self.owned_from_events = floats(np.where(stops, table[ARRIVED] - table[WAITING], self.owned_from_events))
        self.owned_since_s = floats(np.where(stops, readable_s, self.owned_since_s))
        self._releases = sorted({*self._releases, *readable_s[stops].tolist()})

    def _carry_out_shared(self, now_s: float) -> None:
        free_s = self.state.group.consumer_floats[FREE_S]
        self._serving = places = self.places
        if self.spec.protocol is Protocol.RESTART:
            ready_s = max(now_s, float(free_s[places].max(initial=now_s))) + self.spec.rebalance_s
            self.pause_s = self.spec.rebalance_s
            free_s[places] = ready_s
        else:
            # A newcomer has never been free before now.
            free_s[places] = np.maximum(free_s[places], np.where(free_s[places] == 0.0, now_s, 0.0))

    def _serve(self, until_s: float, arriving: Arriving) -> None:
        if self._shared:
            self.state.advance_shared(until_s, arriving, self._serving)
        else:
            self.state.advance(until_s, arriving)

    def take_worst_latency_s(self) -> float:
        """The worst latency since the last call."""
        worst_s = float(self.state.group.total[MAX_S])
        self.state.group.total[MAX_S] = 0.0
        return worst_s
