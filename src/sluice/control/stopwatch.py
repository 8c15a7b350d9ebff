"""How long a loop takes from what it has seen to what it wants done."""

import time
from collections.abc import Callable

from sluice.execute.base import Executor
from sluice.model import Plan, Receipt, Snapshot
from sluice.monitor.base import Monitor


class Stopwatch:
    """Monitor and executor around those of a loop: runs from the end of a look to the first plan handed over."""

    def __init__(self, monitor: Monitor, executor: Executor, clock: Callable[[], float] = time.perf_counter) -> None:
        self._monitor = monitor
        self._executor = executor
        self._clock = clock
        self._seen_s = 0.0
        self._running = False
        self.decided_s = 0.0
        """Of the last tick."""

    def observe(self) -> tuple[Snapshot, ...]:
        seen = self._monitor.observe()
        self._seen_s, self._running = self._clock(), True
        return seen

    def apply(self, plan: Plan) -> Receipt:
        if self._running:
            self.decided_s, self._running = self._clock() - self._seen_s, False
        return self._executor.apply(plan)
