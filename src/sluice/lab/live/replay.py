"""One run in real time: a loop that acts, consumers that work, a producer that sends what the scenario says."""

import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sluice.assembly.live import Live, live
from sluice.control.state import State
from sluice.errors import UnavailableError
from sluice.lab.live.footprint import own_consumers, own_topics
from sluice.lab.live.load import Load
from sluice.lab.live.records import drained, times_s
from sluice.lab.live.sending import sending
from sluice.lab.live.settings import Manner, live_settings
from sluice.model import Action, Decision
from sluice.model.values import FloatArray
from sluice.settings.scenario import Scenario

READY_LIMIT_S = 60.0
DRAIN_LIMIT_S = 60.0
# The producer hears the word, and the loop's first tick is not late.
LEAD_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replayed:
    """What a live run showed. Times are seconds since its beginning, arrays have one entry for each event sent."""

    decisions: tuple[Decision, ...]
    """Those of the run, without the time it took to start the first consumers."""
    start_s: float
    """The beginning on the wall clock."""
    duration_s: float
    arrived_s: FloatArray
    """At the broker."""
    ended_s: FloatArray
    """NaN: not handled, though there was time to."""
    late_s: float
    """How much later than it should a tick came at worst,"""
    delayed_s: float
    """and an event to the broker."""

    @property
    def latency_s(self) -> FloatArray:
        return self.ended_s - self.arrived_s

    @property
    def tick_s(self) -> FloatArray:
        return np.array([decision.time_s - self.start_s for decision in self.decisions])


class _Kept:
    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> None:
        self.decisions.append(decision)


def replay(
    scenario: Scenario,
    load: Load,
    policy: str,
    manner: Manner,
    *,
    duration_s: float,
    bootstrap: str,
    folder: Path,
    on_tick: Callable[[float], None] = lambda _: None,
) -> Replayed:
    """`folder` is empty. Everything that was started is stopped at the end, whatever happens."""
    suffix = uuid.uuid4().hex[:6]
    folder.mkdir(parents=True, exist_ok=True)
    settings = live_settings(scenario, policy, manner, bootstrap=bootstrap, suffix=suffix, folder=folder)
    group, interval_s = settings.group[0], settings.control.interval_s
    kept = _Kept()
    with ExitStack() as stack:
        stack.enter_context(
            own_topics(bootstrap, dict(zip(group.topics, load.partitions, strict=True)), group=group.name)
        )
        producer = stack.enter_context(sending(bootstrap, load, group.topics, folder))
        stack.enter_context(own_consumers(bootstrap, group))
        sluice = stack.enter_context(
            live(settings, bootstrap=bootstrap, act=True, policy=policy, shadows=(), sink=kept)
        )
        _until_ready(sluice, kept, group.name, interval_s)
        # No cool-down and no limit of change is left from the start: the simulator begins with a group, too.
        sluice.loop.forget()
        first = len(kept.decisions)
        start_s = max(kept.decisions[-1].time_s + interval_s, time.time() + LEAD_S)
        producer.begin(start_s)
        _ticks(sluice, start_s, interval_s, duration_s, on_tick)
        sent_s = producer.sent_s()
        records = drained(folder, load.count, limit_s=DRAIN_LIMIT_S)
    decisions = tuple(kept.decisions[first:])
    arrived_s, ended_s = times_s(load, records)
    # Of an event that nobody has seen it is only known when it was sent.
    came_s = np.where(np.isfinite(arrived_s), arrived_s, sent_s) - start_s
    return Replayed(
        decisions=decisions,
        start_s=start_s,
        duration_s=duration_s,
        arrived_s=came_s,
        ended_s=ended_s - start_s,
        late_s=_late_s(decisions, start_s, interval_s),
        delayed_s=float(np.max(came_s - load.time_s, initial=0.0)),
    )


def _until_ready(sluice: Live, kept: _Kept, group: str, interval_s: float) -> None:
    """The first consumers work, and the controller watches."""
    deadline_s = time.monotonic() + READY_LIMIT_S
    while True:
        began_s = time.monotonic()
        sluice.loop.tick()
        last = kept.decisions[-1]
        there = last.snapshot.assignment.count > 0 and last.snapshot.settled
        if there and sluice.state(group) == State.SENTINEL and last.receipt.action is Action.HOLD:
            return
        if began_s > deadline_s:
            raise UnavailableError(f"the first consumers did not start: {last.receipt.problem or last.plan.reason}")
        time.sleep(max(began_s + interval_s - time.monotonic(), 0.0))


def _ticks(
    sluice: Live, start_s: float, interval_s: float, duration_s: float, on_tick: Callable[[float], None]
) -> None:
    """As the simulator: at 0, at every interval, and not at the very end. One that cannot be on time any more is left
    out, as `sluice run` does it."""
    number = 0
    while number * interval_s < duration_s - interval_s / 2:
        time.sleep(max(start_s + number * interval_s - time.time(), 0.0))
        sluice.loop.tick()
        on_tick(number * interval_s)
        number = max(number + 1, int((time.time() - start_s) / interval_s))
    time.sleep(max(start_s + duration_s - time.time(), 0.0))


def _late_s(decisions: tuple[Decision, ...], start_s: float, interval_s: float) -> float:
    """A tick is late by what it is away from its instant, and by those that were left out before it."""
    at_s = np.array([decision.time_s - start_s for decision in decisions])
    return float(np.max(np.diff(at_s, prepend=-interval_s) - interval_s, initial=0.0))
