"""A rebalance that takes longer than a tick must not become the group's only occupation."""

import numpy as np
import pytest

from sluice.analyze.window import WindowAnalyzer
from sluice.control.loop import ControlLoop
from sluice.execute.base import Executor
from sluice.model import Decision, Objective
from sluice.monitor.base import Monitor
from sluice.plan.base import Policy
from sluice.plan.binpack import Binpack
from sluice.plan.guards.known import Known, needs_of
from sluice.plan.guards.recovery import Recovery
from sluice.simulate import Burst, FixedService, GroupSpec, Rates, RunResult, Source, WorldSpec, simulate


class Forgetful:
    def append(self, decision: Decision) -> None:
        pass


KNOTS = ((0, 0), (125, 200), (212.5, 150), (300, 275), (387.5, 150), (475, 350), (600, 0))


def workload_a() -> Rates:
    """Half-cosine segments through the knots of workload A."""
    time_s, knots = np.arange(600) + 0.5, np.array(KNOTS)
    left = np.searchsorted(knots[:, 0], time_s, side="right") - 1
    (x0, y0), (x1, y1) = knots[left].T, knots[left + 1].T
    return Rates(step_s=1.0, eps=np.ceil(y0 + (y1 - y0) * (1 - np.cos(np.pi * (time_s - x0) / (x1 - x0))) / 2))


def run(policy: Policy, seed: int) -> RunResult:
    """Workload A where a rebalance takes two ticks."""
    source = Source(topic="events", partitions=5, arrivals=Burst(rates=workload_a(), period_s=1.001))
    group = GroupSpec(name="g", topics=("events",), service=FixedService(mean_s=0.005), rebalance_s=2.0)
    spec = WorldSpec(sources=(source,), groups=(group,), duration_s=600.0)

    def loop(monitor: Monitor, executor: Executor) -> ControlLoop:
        return ControlLoop(
            monitor=monitor,
            analyzer=WindowAnalyzer(service_eps=200.0, rebalance_s=2.0),
            policy=policy,
            executor=executor,
            objective=Objective(latency_s=0.5),
            sink=Forgetful(),
        )

    return simulate(spec, seed=seed, make_loop=loop)["g"]


@pytest.mark.parametrize("seed", [0, 3])
def test_recovery_ends_the_livelock(seed: int) -> None:
    needs = needs_of(Binpack())
    bare = run(Known(Binpack(), needs=needs), seed)
    guarded = run(Known(Recovery(Binpack(), recovery_ratio=1.0), needs=needs), seed)
    assert actions(bare) > 4 * actions(guarded)
    assert bare.late_events > 2 * guarded.late_events


def actions(result: RunResult) -> int:
    return result.up + result.down + result.reassign
