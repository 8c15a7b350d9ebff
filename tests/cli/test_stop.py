"""A first signal ends a run in order, a second one at once; what a supervisor sends twice is one."""

import signal
import subprocess
import sys
from threading import Event

import pytest

from sluice.cli.stop import stopping_in_order


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_same_word_twice_is_one(number: signal.Signals) -> None:
    stop, clock = Event(), Clock()
    before = signal.getsignal(number)
    with stopping_in_order(stop, clock=clock):
        signal.raise_signal(number)
        clock.now_s += 0.9
        signal.raise_signal(number)
        assert stop.is_set()
    assert signal.getsignal(number) is before


TWICE = """
import signal
from threading import Event

from sluice.cli.stop import stopping_in_order

times = iter([0.0, {later}])
with stopping_in_order(Event(), clock=lambda: next(times)):
    signal.raise_signal(signal.SIG{name})
    signal.raise_signal(signal.SIG{name})
"""


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_second_word_ends_the_program_at_once(name: str) -> None:
    def code(later: float) -> int:
        return subprocess.run([sys.executable, "-c", TWICE.format(later=later, name=name)], check=False).returncode

    assert code(0.9) == 0
    assert code(1.1) == -signal.Signals[f"SIG{name}"]
