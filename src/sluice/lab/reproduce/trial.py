"""One simulated run of a paper's evaluation, kept small, and many of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from sluice.assembly.loop import build_loop, build_policy
from sluice.assembly.world import build_world
from sluice.lab.reproduce.runner import Runner
from sluice.model import Action, Decision
from sluice.model.values import FloatArray, IntArray
from sluice.settings.scenario import Scenario
from sluice.simulate import RunResult, simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A scenario under a policy; run once for each seed."""

    scenario: Scenario
    policy: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """One group of a run; arrays have one entry a tick."""

    name: str
    events: int
    mean_s: float
    replica_seconds: float
    time_s: FloatArray
    consumers: IntArray
    arrival_eps: FloatArray
    lag_events: FloatArray
    worst_s: FloatArray
    """Of what was started since the tick before."""
    response_s: FloatArray
    """Mean of what was processed since the tick before."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """A run; latencies are those of the last group, everything else of all together."""

    sla_percent: float
    mean_s: float
    max_s: float
    replica_seconds: float
    up: int
    down: int
    reassign: int
    up_s: tuple[float, ...]
    """How long each scale-up took until the group was settled, to a tick."""
    down_s: tuple[float, ...]
    cdf_s: FloatArray
    cdf_ratio: FloatArray
    stages: tuple[Stage, ...]

    added: int
    """Consumers that joined; one scale-up may bring several."""
    removed: int

    @property
    def replica_minutes(self) -> float:
        return self.replica_seconds / 60.0

    @property
    def last(self) -> Stage:
        return self.stages[-1]


@dataclass(frozen=True, slots=True)
class _Job:
    case: Case
    seed: int


class Trials:
    """The trials of each case, by seed; every number asked for is the mean over them."""

    def __init__(self, trials: Mapping[str, list[Trial]]) -> None:
        self._trials = trials

    def __getitem__(self, key: str) -> list[Trial]:
        return self._trials[key]

    def mean(self, key: str, of: Callable[[Trial], float]) -> float:
        return fmean(of(trial) for trial in self._trials[key])

    def sla(self, key: str) -> float:
        return self.mean(key, lambda trial: trial.sla_percent)

    def cost(self, key: str) -> float:
        """Replica-minutes."""
        return self.mean(key, lambda trial: trial.replica_minutes)


def run_cases(runner: Runner, cases: Mapping[str, Case], seeds: Callable[[str], int]) -> Trials:
    """Every case with as many seeds as it is to have, on all processes."""
    jobs = [(key, _Job(case, seed)) for key, case in cases.items() for seed in range(seeds(key))]
    done: dict[str, list[Trial]] = {key: [] for key in cases}
    for (key, _), trial in zip(jobs, runner.map(_trial, [job for _, job in jobs]), strict=True):
        done[key].append(trial)
    return Trials(done)


def changed(scenario: Scenario, *, group: Mapping[str, Any] | None = None, **settings: Any) -> Scenario:
    """The scenario with other settings; `group` holds those of every group."""
    groups = tuple(one.model_copy(update=dict(group or {})) for one in scenario.group)
    return scenario.model_copy(update={"group": groups, **settings})


class _Watch:
    """Keeps of each decision the mean latency it saw, and how long each change took until the group was settled."""

    def __init__(self) -> None:
        self.response_s: dict[str, list[float]] = {}
        self.took_s: dict[Action, list[float]] = {Action.UP: [], Action.DOWN: []}
        self._under_way: dict[str, tuple[Action, float]] = {}

    def append(self, decision: Decision) -> None:
        seen, group = decision.workload.latency_mean_s, decision.group
        self.response_s.setdefault(group, []).append(float("nan") if seen is None else seen)
        if group in self._under_way and decision.snapshot.settled:
            action, since_s = self._under_way.pop(group)
            self.took_s[action].append(decision.time_s - since_s)
        if decision.receipt.action in self.took_s:
            self._under_way[group] = (decision.receipt.action, decision.time_s)


def _trial(job: _Job) -> Trial:
    scenario, policy = job.case.scenario, job.case.policy
    watch = _Watch()
    made = build_loop(scenario, build_policy(scenario, policy), watch)
    results = simulate(build_world(scenario, job.seed), seed=job.seed, make_loop=made, exact=False)
    last = results[scenario.group[-1].name]
    cdf_s, cdf_ratio = last.latencies.cdf()
    steps = [np.diff([group.initial_consumers, *results[group.name].timeline.consumers]) for group in scenario.group]
    return Trial(
        sla_percent=100.0 * last.sla_ratio,
        mean_s=last.mean_s,
        max_s=last.max_s,
        replica_seconds=sum(result.replica_seconds for result in results.values()),
        up=sum(result.up for result in results.values()),
        down=sum(result.down for result in results.values()),
        reassign=sum(result.reassign for result in results.values()),
        up_s=tuple(watch.took_s[Action.UP]),
        down_s=tuple(watch.took_s[Action.DOWN]),
        cdf_s=cdf_s,
        cdf_ratio=cdf_ratio,
        added=sum(int(step[step > 0].sum()) for step in steps),
        removed=-sum(int(step[step < 0].sum()) for step in steps),
        stages=tuple(_stage(results[group.name], watch.response_s[group.name]) for group in scenario.group),
    )


def _stage(result: RunResult, responses_s: list[float]) -> Stage:
    seen = result.timeline
    return Stage(
        name=result.group,
        events=result.events,
        mean_s=result.mean_s,
        replica_seconds=result.replica_seconds,
        time_s=seen.time_s,
        consumers=seen.consumers,
        arrival_eps=seen.arrival_eps,
        lag_events=seen.lag_events,
        worst_s=seen.worst_latency_s,
        response_s=np.array(responses_s),
    )
