"""What analyzing and planning cost in a tick in which nothing changes, at ten partitions."""

from time import process_time
from timeit import repeat

import numpy as np
from benchmarks.measure import Measurement

from sluice.analyze.window import WindowAnalyzer
from sluice.model import (
    Action,
    Assignment,
    ConsumerReports,
    Decision,
    Objective,
    Partition,
    Receipt,
    Snapshot,
)
from sluice.model.values import FloatArray, floats, ints
from sluice.plan.base import PlanContext
from sluice.plan.registry import make_policy

PARTITIONS = 10
CONSUMERS = 3
TICKS = 64
GROUP = Assignment(
    partitions=tuple(Partition("events", i) for i in range(PARTITIONS)),
    consumers=tuple(f"c{i}" for i in range(CONSUMERS)),
    owner=ints(np.arange(PARTITIONS) % CONSUMERS),
)


def run() -> list[Measurement]:
    analyzer = WindowAnalyzer(rebalance_s=0.05)
    policy = make_policy("tail-binpack")
    objective = Objective(latency_s=0.5)
    recent: list[Decision] = []
    for tick in range(TICKS):
        seen = snapshot(float(tick))
        load = analyzer.analyze(seen, recent)
        plan = policy.plan(PlanContext(workload=load, objective=objective, recent=recent))
        receipt = Receipt(time_s=seen.time_s, action=plan.action)
        recent.append(Decision(tick=tick, snapshot=seen, workload=load, plan=plan, receipt=receipt))
    now = snapshot(float(TICKS))
    context = PlanContext(workload=analyzer.analyze(now, recent), objective=objective, recent=recent)
    if policy.plan(context).action is not Action.HOLD:
        raise RuntimeError("the benchmark's load was meant to be one that needs no change")
    analyze_us = micros(lambda: analyzer.analyze(now, recent))
    plan_us = micros(lambda: policy.plan(context))
    return [
        Measurement("analyze a window, 10 partitions", analyze_us, "µs", 25, False),
        Measurement("tail-binpack with guards, 10 partitions, a hold", plan_us, "µs", 40, False),
    ]


def micros(function: object, number: int = 2000) -> float:
    """Processor time, the best of several rounds: what others do on the machine at the same time is not ours."""
    assert callable(function)
    return min(repeat(function, timer=process_time, number=number, repeat=9)) / number * 1e6


def snapshot(time_s: float) -> Snapshot:
    """Three consumers of 200 events/s with 80 events/s each, some of them not committed yet."""
    end = 24.0 * time_s * np.ones(PARTITIONS)
    return Snapshot(
        group="g",
        time_s=time_s,
        assignment=GROUP,
        end_events=floats(end),
        committed_events=floats(np.maximum(end - 5.0, 0.0)),
        processed_events=floats(end),
        end_bytes=floats(end * 100.0),
        reports=counters(80.0 * time_s),
        pause_s=0.05,
    )


def counters(events: float) -> ConsumerReports:
    def each(value: float) -> FloatArray:
        return floats([value] * CONSUMERS)

    return ConsumerReports.of(
        processed_events=each(events),
        emitted_events=each(0.0),
        busy_s=each(events * 0.005),
        busy_s2=each(events * 0.005**2),
        latency_s=each(events * 0.1),
        gap_s=each(events * 0.0125),
        gap_s2=each(events * 0.0125**2),
    )
