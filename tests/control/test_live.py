"""Real time: ticks keep their rhythm, a long one causes no burst, and stopping lets a change come to its end."""

import threading
import time

import pytest

from sluice.control.live import Pace, run_live


class Clockwork(Pace):
    """A clock that moves when somebody waits or works, and a tick that takes as long as the test says."""

    def __init__(self, *takes_s: float, stop_after: int | None = None) -> None:
        self.time_s = 100.0
        self.ticks: list[float] = []
        self._takes_s = takes_s
        self._stop_after = stop_after

    def tick(self) -> None:
        self.ticks.append(self.time_s - 100.0)
        self.time_s += self._takes_s[min(len(self.ticks), len(self._takes_s)) - 1]

    def now(self) -> float:
        return self.time_s

    def stopped(self) -> bool:
        return self._stop_after is not None and len(self.ticks) >= self._stop_after

    def wait(self, seconds: float) -> None:
        assert seconds >= 0
        self.time_s += seconds


def test_the_rhythm_does_not_depend_on_how_long_a_tick_takes() -> None:
    clock = Clockwork(0.3, 0.01, 0.9, 0.0, 0.2)
    run_live(clock.tick, pace=clock, interval_s=1.0, duration_s=6.0)
    assert clock.ticks == pytest.approx([0, 1, 2, 3, 4, 5])


def test_a_tick_that_took_too_long_is_followed_by_the_next_that_is_due() -> None:
    clock = Clockwork(0.1, 3.4, 0.1)
    run_live(clock.tick, pace=clock, interval_s=1.0, duration_s=8.0)
    assert clock.ticks == pytest.approx([0, 1, 5, 6, 7])


def test_after_the_stop_ticks_go_on_until_nothing_is_under_way() -> None:
    clock = Clockwork(0.0, stop_after=2)
    told: list[int] = []
    run_live(
        clock.tick,
        pace=clock,
        interval_s=1.0,
        finish=lambda: told.append(len(clock.ticks)),
        idle=lambda: len(clock.ticks) >= 5,
    )
    assert told == [2]
    assert len(clock.ticks) == 5


def test_finishing_has_a_limit() -> None:
    clock = Clockwork(0.0, stop_after=1)
    run_live(clock.tick, pace=clock, interval_s=1.0, idle=lambda: False, finish_limit_s=3.0)
    assert len(clock.ticks) == 1 + 3


def test_a_stop_cuts_the_waiting_short() -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    begun = time.monotonic()
    run_live(lambda: None, pace=Pace(stop), interval_s=60.0)
    assert 0.1 < time.monotonic() - begun < 10.0
