"""The compiled simulator and an independent SimPy model run the same loop: all they show, decide and measure agrees."""

import numpy as np
import pytest
from benchmarks.simpy_group import SimpyGroup
from tests.simulate.scripted import Kept, Offsets
from tests.simulate.worlds import one_group

from sluice.control.loop import ControlLoop
from sluice.execute.base import Executor
from sluice.model import Assignment, Objective, Plan, Reason, Snapshot
from sluice.model.values import floats, ints
from sluice.monitor.base import Monitor
from sluice.plan.base import PlanContext, propose
from sluice.simulate import Burst, Even, Poisson, Rates, simulate
from sluice.simulate.arrivals import Arrivals
from sluice.simulate.stream import EventStream

PARTITIONS = 5


class Shuffle:
    """Changes the group often and in every way, as a function of what it sees: offsets decide how many and who."""

    name = "shuffle"

    def plan(self, context: PlanContext) -> Plan:
        workload = context.workload
        lag = int(workload.lag_events.sum() + workload.arrival_eps.sum())
        if round(workload.time_s) % 3:
            return propose(context, self.name, workload.assignment, Reason("resting"))
        count = 1 + lag % 4
        owner = (np.arange(PARTITIONS) + lag) % count
        names = tuple(f"c{i}" for i in range(count))
        target = Assignment(partitions=workload.partitions, consumers=names, owner=ints(owner))
        return propose(context, self.name, target, Reason("lag {lag}", {"lag": lag}))


def assert_same_view(mine: Snapshot, other: Snapshot) -> None:
    assert mine.reports is not None
    assert other.reports is not None
    np.testing.assert_allclose(mine.reports.counters, other.reports.counters, atol=1e-6)
    for name in ("end_events", "committed_events", "processed_events", "end_bytes"):
        np.testing.assert_allclose(getattr(mine, name), getattr(other, name), err_msg=f"{name} at {mine.time_s} s")


RATES = Rates(eps=floats([40, 130, 220, 180, 90, 0, 310, 260, 150, 60] * 3))


@pytest.mark.parametrize(
    "arrivals",
    [Burst(rates=RATES, period_s=1.001), Even(rates=RATES), Poisson(rates=RATES)],
    ids=["burst", "even", "poisson"],
)
@pytest.mark.parametrize("max_poll", [500, 7, 1])
def test_every_observation_decision_and_latency_agrees(arrivals: Arrivals, max_poll: int) -> None:
    spec = one_group(
        arrivals, partitions=PARTITIONS, duration_s=30.0, rebalance_s=0.3, heartbeat_s=0.0, max_poll_events=max_poll
    )

    def loop(sink: Kept, monitor: Monitor, executor: Executor) -> ControlLoop:
        return ControlLoop(
            monitor=monitor,
            analyzer=Offsets(),
            policy=Shuffle(),
            executor=executor,
            objective=Objective(latency_s=0.5),
            sink=sink,
        )

    ours, theirs = Kept(), Kept()
    result = simulate(spec, seed=3, make_loop=lambda m, e: loop(ours, m, e))["g"]
    model = SimpyGroup(
        EventStream(spec.sources[0], 3).take(np.inf),
        partitions=PARTITIONS,
        service_s=0.005,
        rebalance_s=0.3,
        max_poll=max_poll,
    )
    model.run(lambda m, e: loop(theirs, m, e), duration_s=30.0, interval_s=1.0)

    assert result.up + result.down + result.reassign >= 5
    assert [d.plan.target.owned() for d in ours] == [d.plan.target.owned() for d in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert_same_view(mine.snapshot, other.snapshot)
    assert result.latencies.exact_s is not None
    assert result.events == len(model.latency_s)
    np.testing.assert_allclose(result.latencies.exact_s, model.latency_s, atol=1e-7)
