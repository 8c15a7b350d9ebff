"""The simulator against a SimPy model of the same group, both in a closed loop with the same planner.

Processor time, not the clock: both run on one core, and the machine may be busy with other things.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.measure import Measurement
from benchmarks.simpy_group import SimpyGroup

from sluice.analyze.window import WindowAnalyzer
from sluice.control.loop import ControlLoop
from sluice.execute.base import Executor
from sluice.lab.library import data_folder, find_scenario
from sluice.model import Decision, Objective
from sluice.model.values import FloatArray, floats
from sluice.monitor.base import Monitor
from sluice.plan.registry import make_policy
from sluice.settings.curve import rate_curve
from sluice.settings.trace import read_rates
from sluice.simulate import Burst, FixedService, GroupSpec, Rates, Source, WorldSpec, simulate
from sluice.simulate.stream import EventStream

SERVICE_S = 0.005
PEAK_EPS = 100_000.0
HUGE_EVENTS = 100_000_000
ROUNDS = 7


def run() -> list[Measurement]:
    load = workload_a()
    factor = PEAK_EPS / load.max()
    heavy = group_spec(load * factor, SERVICE_S / factor, partitions=5)
    # SimPy's cost an event does not depend on how many there are: a part of the run will do, and a thinner one.
    light_factor = factor / 100
    light = group_spec(load[200:400] * light_factor, SERVICE_S / light_factor, partitions=5)
    real = group_spec(workload_b(), SERVICE_S, partitions=10)
    short = group_spec(workload_b()[3000:3600], SERVICE_S, partitions=10)
    for spec in (light, short):
        _ours_eps(spec)  # compile
    _simpy_eps(short)  # its snapshots come in arrays of another kind
    tick_s = 1.0 / (_ours_eps(real) / _events(real) * len(workload_b()))
    return [
        Measurement("simulator / SimPy, A at 100,000 events/s", _ratio(heavy, light), "x", 500, True),
        Measurement("simulator / SimPy, B as it is", _ratio(real, short), "x", 30, True),
        Measurement("a whole tick at 10 partitions, B as it is", tick_s * 1e6, "us", 150, False),
        Measurement("memory of a run of 100 M events, histogram", _huge_run_mb(), "MB", 500, False),
    ]


def _ratio(ours: WorldSpec, simpys: WorldSpec) -> float:
    """Events a second, ours over SimPy's: the median of rounds, in each one after the other."""
    return statistics.median(_ours_eps(ours) / _simpy_eps(simpys) for _ in range(ROUNDS))


def workload_a() -> FloatArray:
    scenario = find_scenario("workload-a")
    rate = scenario.topic[0].rate
    assert rate is not None
    return rate_curve(rate, scenario.duration_s, 0).values


def workload_b() -> FloatArray:
    """The recorded one where it is at hand, else as long and as heavy."""
    file = data_folder() / "nyc_2h_per_second.csv"
    if file.is_file():
        return floats(read_rates(file)[1])[:7200]
    return floats(182 * (1 - 0.9 * np.cos(np.arange(7200) / 1800 * np.pi)))


def group_spec(eps: FloatArray, service_s: float, *, partitions: int) -> WorldSpec:
    return WorldSpec(
        sources=(
            Source(topic="t", partitions=partitions, arrivals=Burst(rates=Rates(eps=floats(eps)), period_s=1.001)),
        ),
        groups=(GroupSpec(name="g", topics=("t",), service=FixedService(mean_s=service_s), heartbeat_s=0.0),),
        duration_s=float(len(eps)),
    )


class _Nowhere:
    def append(self, decision: Decision) -> None:
        pass


def loop_of(spec: WorldSpec) -> Callable[[Monitor, Executor], ControlLoop]:
    group = spec.groups[0]
    return lambda monitor, executor: ControlLoop(
        monitor=monitor,
        analyzer=WindowAnalyzer(service_eps=1 / group.service.mean_s, rebalance_s=group.rebalance_s),
        policy=make_policy("tail-binpack"),
        executor=executor,
        objective=Objective(latency_s=spec.objective_s),
        sink=_Nowhere(),
    )


def _events(spec: WorldSpec) -> int:
    return len(EventStream(spec.sources[0], 0).take(np.inf).time_s)


def _ours_eps(spec: WorldSpec) -> float:
    start_s = time.process_time()
    result = simulate(spec, seed=0, make_loop=loop_of(spec), exact=False)["g"]
    return result.events / (time.process_time() - start_s)


def _simpy_eps(spec: WorldSpec) -> float:
    source, group = spec.sources[0], spec.groups[0]
    model = SimpyGroup(
        EventStream(source, 0).take(np.inf),
        partitions=source.partitions,
        service_s=group.service.mean_s,
        rebalance_s=group.rebalance_s,
        max_poll=group.max_poll_events,
    )
    start_s = time.process_time()
    model.run(loop_of(spec), duration_s=spec.duration_s, interval_s=spec.interval_s)
    return len(model.latency_s) / (time.process_time() - start_s)


def _huge_run_mb() -> float:
    """Peak memory of a process of its own that simulates the huge run."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.huge_run", str(HUGE_EVENTS)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    return float(done.stdout)
