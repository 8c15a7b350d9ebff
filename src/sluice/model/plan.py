"""What is to be done, and why."""

from collections.abc import Mapping
from enum import StrEnum

from sluice.model.assignment import Assignment
from sluice.model.values import Value


class Action(StrEnum):
    UP = "up"
    DOWN = "down"
    REASSIGN = "reassign"
    HOLD = "hold"


class Reason(Value, frozen=True):
    """A sentence with its numbers apart: cheap to make every tick, put together only when someone reads it."""

    template: str
    numbers: Mapping[str, float | int | str] = {}

    def __str__(self) -> str:
        return self.template.format_map(self.numbers)


class Candidate(Value, frozen=True, kw_only=True):
    """Something the policy looked at and did not choose."""

    name: str
    consumers: int
    why_not: Reason


class Prediction(Value, frozen=True, kw_only=True):
    """What the policy expects once its plan stands."""

    utilisation: float | None = None
    """Of the busiest consumer."""
    worst_latency_s: float | None = None
    moved_events: float | None = None
    """Events that pile up on moved partitions while they stand still."""


class Plan(Value, frozen=True, kw_only=True):
    """One group's target; the number of consumers is a consequence of it."""

    group: str
    time_s: float
    policy: str
    action: Action
    current: Assignment
    target: Assignment
    reason: Reason
    rejected: tuple[Candidate, ...] = ()
    guard: str | None = None
    """The guard that overruled the policy, if one did."""
    warnings: tuple[Reason, ...] = ()
    prediction: Prediction | None = None


def action_between(current: Assignment, target: Assignment) -> Action:
    """The action that leads from one assignment to the other."""
    if target.count != current.count:
        return Action.UP if target.count > current.count else Action.DOWN
    return Action.HOLD if current.same_as(target) else Action.REASSIGN
