"""How Kubernetes' Horizontal Pod Autoscaler turns a metric into a number of replicas: numbers in, numbers out."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sluice.errors import InputError

SELECT = ("Max", "Min", "Disabled")
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """The behaviour of one direction: a stabilisation window, a tolerance, and how much may change per period.

    `percent` and `pods` are its scaling policies; `select` says which one counts (Max: the one that changes most).
    """

    stabilization_s: float
    tolerance: float
    percent: float | None
    pods: int | None
    period_s: float
    select: str = "Max"

    def check(self, name: str) -> None:
        if self.select not in SELECT:
            raise InputError(f"{name}: selectPolicy is {self.select!r}; give one of {', '.join(SELECT)}")
        if self.percent is None and self.pods is None:
            raise InputError(f"{name} has neither a percent nor a pods policy; give at least one")
        for what, value in (("percent", self.percent), ("pods", self.pods), ("stabilization", self.stabilization_s)):
            if value is not None and value < 0:
                raise InputError(f"{name}: {what} is {value}; give a number of at least 0")
        if not self.period_s > 0:
            raise InputError(f"{name}: period is {self.period_s}; give a time above 0 s")
        if not 0 <= self.tolerance < 1:
            raise InputError(f"{name}: tolerance is {self.tolerance}; give a share of at least 0 and below 1")


def recommended(metric: float, target: float, replicas: int, up_tolerance: float, down_tolerance: float) -> int:
    """⌈metric / target⌉ for an AverageValue metric, unless the ratio to what stands is within the dead band."""
    if replicas > 0:
        ratio = metric / (target * replicas)
        if 1 - down_tolerance - _ROUNDING <= ratio <= 1 + up_tolerance + _ROUNDING:
            return replicas
    return math.ceil(metric / target - _ROUNDING)


def stabilized(current: int, desired: int, up_window: Iterable[int], down_window: Iterable[int]) -> int:
    """Up no higher than the lowest recommendation of its window, down no lower than the highest of its own."""
    up, down = min([desired, *up_window]), max([desired, *down_window])
    return min(max(current, up), down)


def limited(current: int, desired: int, change_in: "Changes", up: Direction, down: Direction) -> int:
    """What the scaling policies let through of a change."""
    if desired > current:
        return min(desired, max(_limit_up(current, change_in, up), current))
    if desired < current:
        return max(desired, min(_limit_down(current, change_in, down), current))
    return desired


class Changes:
    """What was added and taken away lately, as (seconds ago, change of replicas)."""

    def __init__(self, changes: Iterable[tuple[float, int]]) -> None:
        self._changes = tuple(changes)

    def within(self, period_s: float) -> int:
        """The change of replicas in the last period."""
        return sum(change for ago_s, change in self._changes if ago_s < period_s)


def _limit_up(current: int, changes: Changes, rule: Direction) -> int:
    if rule.select == "Disabled":
        return current
    start = current - changes.within(rule.period_s)
    limits = []
    if rule.pods is not None:
        limits.append(start + rule.pods)
    if rule.percent is not None:
        limits.append(math.ceil(start * (1 + rule.percent / 100) - _ROUNDING))
    return max(limits) if rule.select == "Max" else min(limits)


def _limit_down(current: int, changes: Changes, rule: Direction) -> int:
    if rule.select == "Disabled":
        return current
    start = current - changes.within(rule.period_s)
    limits = []
    if rule.pods is not None:
        limits.append(start - rule.pods)
    if rule.percent is not None:
        limits.append(math.floor(start * (1 - rule.percent / 100) + _ROUNDING))
    return min(limits) if rule.select == "Max" else max(limits)
