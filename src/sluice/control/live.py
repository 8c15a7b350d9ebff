"""The loop in real time: one tick every interval, until told to stop; then what is under way is brought to its end."""

import time
from collections.abc import Callable, Sequence
from threading import Event

from sluice.control.loop import Sink
from sluice.model import Decision

FINISH_LIMIT_S = 15.0


class Several:
    """Hands every decision to several sinks."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)

    def append(self, decision: Decision) -> None:
        for sink in self._sinks:
            sink.append(decision)


class Pace:
    """Real time: waiting is cut short by `stop`, except while finishing."""

    def __init__(self, stop: Event) -> None:
        self._stop = stop

    def now(self) -> float:
        return time.monotonic()

    def stopped(self) -> bool:
        return self._stop.is_set()

    def wait(self, seconds: float) -> None:
        if self._stop.is_set():
            time.sleep(seconds)
        else:
            self._stop.wait(seconds)


def run_live(
    tick: Callable[[], object],
    *,
    pace: Pace,
    interval_s: float,
    finish: Callable[[], None] = lambda: None,
    idle: Callable[[], bool] = lambda: True,
    duration_s: float = float("inf"),
    finish_limit_s: float = FINISH_LIMIT_S,
) -> None:
    """Tick until stopped or the duration is over.

    A tick that took too long is followed by the next that is due, not by a burst of those that were missed. After
    `finish` no new change begins; ticks go on until `idle`, so that nobody is left half moved.
    """
    end = pace.now() + duration_s
    _tick_until(lambda: pace.stopped() or pace.now() >= end, tick, pace, interval_s)
    finish()
    limit = pace.now() + finish_limit_s
    _tick_until(lambda: idle() or pace.now() >= limit, tick, pace, interval_s)


def _tick_until(over: Callable[[], bool], tick: Callable[[], object], pace: Pace, interval_s: float) -> None:
    due = pace.now()
    while not over():
        tick()
        missed = max(pace.now() - due, 0.0) // interval_s
        due += interval_s * (missed + 1)
        pace.wait(max(due - pace.now(), 0.0))
