"""A whole run: the world and the loop take turns."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from sluice.execute.base import Executor
from sluice.model import Action, Decision
from sluice.model.values import FloatArray
from sluice.monitor.base import Monitor
from sluice.simulate.group import SimulatedGroup
from sluice.simulate.result import Latencies, PathResult, RunResult, Timeline
from sluice.simulate.spec import WorldSpec
from sluice.simulate.stages import SimulatedExecutor, SimulatedMonitor
from sluice.simulate.world import World


class Loop(Protocol):
    """What decides; `sluice.control.ControlLoop` is one."""

    def tick(self) -> Sequence[Decision]: ...


MakeLoop = Callable[[Monitor, Executor], Loop]


def simulate(
    spec: WorldSpec,
    *,
    seed: int,
    make_loop: MakeLoop,
    exact: bool = True,
    on_tick: Callable[[float], None] | None = None,
    tick_s: Sequence[float] | None = None,
) -> dict[str, RunResult]:
    """Run the loop against the simulated world; one result a group. `on_tick` hears the time after each tick.

    `tick_s`: decide at these instants instead of once every interval.
    """
    world = World(spec, seed=seed, exact=exact)
    loop = make_loop(SimulatedMonitor(world), SimulatedExecutor(world))
    records = {name: _Record(group) for name, group in world.groups.items()}
    if tick_s is None:
        tick_s = [k * spec.interval_s for k in range(round(spec.duration_s / spec.interval_s))]
    for until_s in tick_s:
        world.advance(until_s)
        for decision in loop.tick():
            records[decision.group].add(decision)
        if on_tick:
            on_tick(until_s)
    world.advance(spec.duration_s)
    world.finish()
    return {name: record.result(spec, world.paths(name)) for name, record in records.items()}


class _Record:
    """Collects what a run is judged by."""

    def __init__(self, group: SimulatedGroup) -> None:
        self._group = group
        self._rows: list[tuple[float, int, FloatArray, FloatArray, float]] = []
        self._actions: list[str] = []
        self._policy = ""
        self._moved = 0
        self._rscores: list[float] = []
        self._largest_s = 0.0

    def add(self, decision: Decision) -> None:
        snapshot, workload, plan = decision.snapshot, decision.workload, decision.plan
        worst_s = self._group.take_worst_latency_s()
        self._largest_s = max(self._largest_s, worst_s)
        self._policy = plan.policy
        self._actions.append(decision.receipt.action)
        self._rows.append(
            (
                snapshot.time_s,
                self._group.assignment.count,
                workload.arrival_eps,
                workload.lag_events,
                worst_s,
            )
        )
        if decision.receipt.action is not Action.HOLD:
            self._moved += decision.receipt.moved_count
            self._rscores.append(rscore_of(decision))

    def result(self, spec: WorldSpec, paths: tuple[PathResult, ...]) -> RunResult:
        group, state = self._group, self._group.state
        events, late_events, latency_s = state.served()
        largest_s = max(self._largest_s, group.take_worst_latency_s())
        time_s, counts, rates, lags, worst_s = (np.array(column) for column in zip(*self._rows, strict=True))
        consumers = counts.astype(np.int64)
        return RunResult(
            group=group.spec.name,
            policy=self._policy,
            events=int(events),
            late_events=sum(path.late_events for path in paths) if paths else int(late_events),
            mean_s=latency_s / events if events else float("nan"),
            latencies=Latencies(state.latency_s, state.histogram, largest_s),
            # The last count stands until the end of the time in which decisions are taken.
            replica_seconds=float((consumers * np.diff([*time_s, spec.duration_s])).sum()),
            up=self._actions.count(Action.UP),
            down=self._actions.count(Action.DOWN),
            reassign=self._actions.count(Action.REASSIGN),
            moved_partitions=self._moved,
            rscore_mean=sum(self._rscores) / len(self._rows),
            timeline=Timeline(
                time_s=time_s,
                consumers=consumers,
                arrival_eps=rates.sum(axis=1),
                lag_events=lags.sum(axis=1),
                worst_latency_s=worst_s,
                action=tuple(self._actions),
            ),
            ownership=tuple(group.history),
            paths=paths,
        )


def rscore_of(decision: Decision) -> float:
    """Load of the migrating partitions in units of one consumer's strength: by bytes where its capacity is known."""
    workload, plan = decision.workload, decision.plan
    if workload.capacity_bps and workload.arrival_bps is not None:
        load, capacity = workload.arrival_bps, workload.capacity_bps
    elif workload.service_eps:
        load, capacity = workload.arrival_eps, workload.service_eps
    else:
        return 0.0
    return float(np.nansum(load[plan.current.moved(plan.target)])) / capacity
