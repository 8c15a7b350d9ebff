"""How fast a managed group follows its load: a stream of measurements drives the controller, real consumers obey.

For each change four times are taken, from the moment the load has changed on:

    Δt1  measuring    from the beginning of the measurement to the look that found it
    Δt2  deciding     from that look to the plan
    Δt3  starting     until the last of the new consumers was ready (a change without new ones has none)
    Δt4  handing over stop → committed → start for the slowest of the moved partitions
"""

import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from confluent_kafka import Producer

from sluice.assembly.live import Live, live
from sluice.control.state import State
from sluice.control.stopwatch import Stopwatch
from sluice.errors import InputError, UnavailableError, did_you_mean
from sluice.execute.base import Executor
from sluice.lab.live.footprint import own_consumers, own_topics
from sluice.lab.live.parent import parent_environment
from sluice.lab.measurements import read_measurements
from sluice.model import Action, Decision, Partition, Plan, Receipt
from sluice.model.values import FloatArray, replace
from sluice.monitor.base import Monitor
from sluice.monitor.measured import Measurement
from sluice.settings.live import ControlSettings, KafkaSettings, LiveSettings, WatchedSettings
from sluice.settings.scenario import AnalyzeSettings, ObjectiveSettings
from sluice.theory.packing import PACKERS
from sluice.theory.packing.streams import size_stream

TICK_S = 0.1
CHANGE_LIMIT_S = 60.0
CAPACITY_RATIO = 0.75
"""C over C̄: what is packed is what a consumer can read, less what it needs to catch up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One answer to a measurement; None: not part of it."""

    step: int
    """Which measurement, from 0."""
    consumers: int
    """After it."""
    started: int
    moved: int
    measuring_s: float
    deciding_s: float
    starting_s: float | None
    handing_over_s: float | None

    @property
    def whole_s(self) -> float:
        return self.measuring_s + self.deciding_s + (self.starting_s or 0.0) + (self.handing_over_s or 0.0)


def checked_packing(policy: str) -> None:
    """InputError unless it packs bytes."""
    if policy not in PACKERS:
        raise InputError(f"policy {policy!r} does not pack bytes; {did_you_mean(policy, PACKERS)}")


def speeds_of(
    file: Path | None, *, delta: float, partitions: int, steps: int, capacity: float, seed: int
) -> FloatArray:
    """A row for each measurement: of the file, or of a stream as the packers are compared on."""
    if file is None:
        return size_stream(partitions=partitions, steps=steps, delta=delta, seed=seed, capacity=capacity)
    read = read_measurements(file)
    names = tuple(read[0])
    if any(tuple(sorted(step)) != tuple(sorted(names)) for step in read):
        raise InputError(f"{file}: measurements tell of different partitions; give the same in each")
    return np.array([[step[name] for name in names] for step in read])[:steps]


class _Kept:
    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> None:
        self.decisions.append(decision)


def bench_response(
    speeds: FloatArray,
    *,
    capacity: float,
    policy: str,
    bootstrap: str,
    folder: Path,
    interval_s: float,
    on_step: Callable[[int], None] = lambda _: None,
) -> tuple[Change, ...]:
    """`speeds` has a row for each measurement and a column for each partition, in the units of `capacity` (C).

    One measurement every `interval_s`, or later, when the change before is not done yet.
    """
    suffix = uuid.uuid4().hex[:6]
    folder.mkdir(parents=True, exist_ok=True)
    topic, told = f"response-{suffix}", f"response-{suffix}.measurements"
    settings = _settings(topic, told, policy, capacity, bootstrap, folder)
    group = settings.group[0]
    partitions = tuple(Partition(topic, number) for number in range(speeds.shape[1]))
    # Compiled before the first measurement comes: deciding is what is measured, not compiling.
    PACKERS[policy](speeds[0], np.zeros(len(partitions), dtype=np.int64), capacity)
    kept = _Kept()
    watches: list[tuple[Stopwatch, _Gate]] = []

    def watched(monitor: Monitor, executor: Executor) -> tuple[Monitor, Executor]:
        gate = _Gate(executor, group.name)
        watches.append((Stopwatch(monitor, gate), gate))
        return watches[0][0], watches[0][0]

    changes: list[Change] = []
    with ExitStack() as stack:
        stack.enter_context(own_topics(bootstrap, {topic: len(partitions), told: 1}, group=group.name))
        stack.enter_context(own_consumers(bootstrap, group))
        producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 0})
        sluice = stack.enter_context(
            live(settings, bootstrap=bootstrap, act=True, policy=policy, shadows=(), sink=kept, around=watched)
        )
        _settle(sluice, kept, group.name)
        due_s = time.time() + interval_s
        for step, row in enumerate(speeds):
            time.sleep(max(due_s - time.time(), 0.0))
            now_s = time.time()
            measurement = Measurement(
                since_s=now_s - interval_s, time_s=now_s, speed_bps=dict(zip(partitions, row.tolist(), strict=True))
            )
            due_s = now_s + interval_s
            producer.produce(told, measurement.to_json(), partition=0)
            producer.flush(10)
            changes += _follow(sluice, kept, *watches[0], measurement, step)
            on_step(step + 1)
    return tuple(changes)


def _follow(
    sluice: Live, kept: _Kept, watch: Stopwatch, gate: "_Gate", measurement: Measurement, step: int
) -> list[Change]:
    """Tick until the measurement has been seen and what follows from it is done."""
    assert sluice.measured is not None
    gate.open = True
    while True:
        first = len(kept.decisions)
        decision = _tick(sluice, kept)
        newest, rate = sluice.measured.newest(gate.group), decision.workload.arrival_bps
        # A rate is the difference of two looks: after the very first measurement there is none yet.
        known = rate is not None and bool(np.isfinite(rate.sum()))
        if known and newest is not None and newest.time_s >= measurement.time_s:
            break
    gate.open = False
    if Action.HOLD in (decision.plan.action, decision.receipt.action):
        return []
    deciding_s = watch.decided_s
    _settle(sluice, kept, gate.group)
    done = [d.receipt for d in kept.decisions[first:]]
    return [
        Change(
            step=step,
            consumers=decision.plan.target.count,
            started=sum(len(r.started) for r in done),
            moved=int(decision.plan.current.moved(decision.plan.target).sum()),
            measuring_s=decision.time_s - measurement.since_s,
            deciding_s=deciding_s,
            starting_s=max((r.startup_s for r in done if r.startup_s is not None), default=None),
            handing_over_s=max((r.pause_s for r in done if r.pause_s is not None), default=None),
        )
    ]


class _Gate:
    """One packing a measurement: what is planned in between is not begun; a change that is under way goes on."""

    def __init__(self, executor: Executor, group: str) -> None:
        self._executor = executor
        self.group = group
        self.open = True

    def apply(self, plan: Plan) -> Receipt:
        if not self.open and plan.action is not Action.HOLD:
            plan = replace(plan, action=Action.HOLD, target=plan.current)
        return self._executor.apply(plan)


def _settle(sluice: Live, kept: _Kept, group: str) -> None:
    """Tick until nothing is under way."""
    deadline_s = time.monotonic() + CHANGE_LIMIT_S
    while True:
        decision = _tick(sluice, kept)
        there = decision.snapshot.assignment.count > 0 and decision.snapshot.settled
        if there and sluice.state(group) == State.SENTINEL:
            return
        if time.monotonic() > deadline_s:
            problem = decision.receipt.problem or decision.plan.reason
            raise UnavailableError(f"a change was not done within {CHANGE_LIMIT_S:g} s: {problem}")


def _tick(sluice: Live, kept: _Kept) -> Decision:
    began_s = time.monotonic()
    sluice.loop.tick()
    time.sleep(max(began_s + TICK_S - time.monotonic(), 0.0))
    return kept.decisions[-1]


def _settings(topic: str, told: str, policy: str, capacity: float, bootstrap: str, folder: Path) -> LiveSettings:
    return LiveSettings(
        kafka=KafkaSettings(bootstrap=bootstrap),
        objective=ObjectiveSettings(latency_s=1.0),
        control=ControlSettings(policy=policy, interval_s=TICK_S, stale_s=3600.0),
        group=(
            WatchedSettings(
                name=f"{topic}-group",
                topics=(topic,),
                measurements=told,
                command=("python", "-m", "sluice.lab.live.consumer"),
                environment={
                    "REPLAY_SERVICE": '{"kind": "fixed", "mean_s": 0.001}',
                    "REPLAY_FOLDER": str(folder),
                    **parent_environment(),
                },
                service_eps=1000.0,
                rebalance_s=0.05,
                capacity_bps=capacity / CAPACITY_RATIO,
            ),
        ),
        # Shorter than any tick: the rate of a look is the measurement's, not a mean with the one before.
        analyze=AnalyzeSettings(window_s=TICK_S / 2),
        policy={policy: {"capacity_ratio": CAPACITY_RATIO, "every_s": 0.0}},
    )
