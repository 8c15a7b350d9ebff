"""What stands for work in a live run, on a clock that only moves when somebody sleeps or is late."""

import random
from itertools import pairwise

import pytest

from sluice.lab.live.consumer import BREATH_S, DEBT_S, Work, service_draw
from sluice.model import Partition
from sluice.sdk import Event


class Clock:
    """Time, and a machine that wakes sleepers too late."""

    def __init__(self, late_s: float = 0.0) -> None:
        self.now_s = 1000.0
        self.late_s = late_s

    def read(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds + self.late_s


def event(arrived_s: float, value: bytes = b"") -> Event:
    return Event(Partition("t", 0), 0, None, value, arrived_s)


def made(clock: Clock, service_s: float = 0.005) -> tuple[Work, list[float]]:
    ended: list[float] = []
    work = Work(
        lambda _: service_s,
        lambda _, ended_s: ended.append(ended_s),
        sleep=clock.sleep,
        clock=clock.read,
        wall=clock.read,
    )
    return work, ended


def test_a_busy_consumer_keeps_its_rate_though_every_sleep_is_too_long() -> None:
    clock = Clock(late_s=0.001)
    work, ended = made(clock)
    for _ in range(1000):
        clock.now_s += 0.0001  # between two events
        work(event(arrived_s=999.0))
    assert ended[-1] - 1000.0 == pytest.approx(1000 * 0.005, abs=0.002)
    assert max(b - a for a, b in pairwise(ended)) < 0.007


def test_an_idle_consumer_begins_when_the_event_comes() -> None:
    clock = Clock(late_s=0.001)
    work, ended = made(clock)
    for k in range(5):
        clock.now_s = 1000.0 + k
        work(event(arrived_s=clock.now_s))
    assert [end_s - int(end_s) for end_s in ended] == pytest.approx([0.006] * 5)


def test_what_came_after_the_last_end_is_not_worked_on_before_it_came() -> None:
    clock = Clock(late_s=0.004)
    work, ended = made(clock)
    work(event(arrived_s=1000.0))
    clock.now_s += BREATH_S / 2
    work(event(arrived_s=clock.now_s - 0.001))
    assert ended[1] - ended[0] >= BREATH_S / 2 + 0.005


def test_a_standstill_is_lost() -> None:
    """A partition that stood still, a machine that slept: the time does not come back."""
    clock = Clock()
    work, ended = made(clock)
    work(event(arrived_s=999.0))
    clock.now_s += 1.0
    work(event(arrived_s=999.0))
    assert ended[1] - ended[0] == pytest.approx(1.005)
    clock.late_s = 5.0  # one sleep of five seconds
    work(event(arrived_s=999.0))
    clock.late_s = 0.0
    for _ in range(100):
        work(event(arrived_s=999.0))
    assert ended[-1] - ended[2] == pytest.approx(100 * 0.005 - DEBT_S, abs=0.006)


@pytest.mark.parametrize(
    ("service", "mean_s"),
    [
        ({"kind": "fixed", "mean_s": 0.01}, 0.01),
        ({"kind": "exponential", "mean_s": 0.01}, 0.01),
        ({"kind": "lognormal", "mean_s": 0.01, "cv": 0.5}, 0.01),
        ({"kind": "per-byte", "s_per_byte": 0.0001, "base_s": 0.002}, 0.012),
    ],
)
def test_service_times_are_the_scenarios(service: dict[str, float | str], mean_s: float) -> None:
    draw = service_draw(service, random.Random(1))
    times = [draw(event(0.0, b"x" * 100)) for _ in range(20_000)]
    assert sum(times) / len(times) == pytest.approx(mean_s, rel=0.03)
