"""When a consumer that ended by itself is started again."""

import math

from sluice.execute.timing import Timing

FORGIVEN_S = 60.0
"""A failure so long after the one before counts as the first."""


class Retries:
    """The wait doubles while one failure follows the other: 0.5 s, 1 s, … 16 s."""

    def __init__(self, timing: Timing | None = None) -> None:
        self._timing = timing or Timing()
        self._failures: dict[str, int] = {}
        self._failed_s: dict[str, float] = {}

    def failed(self, consumer: str, now_s: float) -> None:
        again = now_s - self._failed_s.get(consumer, -math.inf) < FORGIVEN_S
        self._failures[consumer] = self._failures.get(consumer, 0) + 1 if again else 1
        self._failed_s[consumer] = now_s

    def forgive(self, consumer: str) -> None:
        """It has succeeded."""
        self._failures.pop(consumer, None)
        self._failed_s.pop(consumer, None)

    def may_start(self, consumer: str, now_s: float) -> bool:
        wait_s = self._timing.retry_s(self._failures.get(consumer, 0))
        return now_s >= self._failed_s.get(consumer, -math.inf) + wait_s
