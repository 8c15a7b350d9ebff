"""A change must be worth its pause: too small a gain is a hold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sluice.errors import InputError
from sluice.model import NOBODY, Action, Assignment, Plan, Reason
from sluice.plan.base import PlanContext
from sluice.plan.guards.base import Guard
from sluice.plan.placing import is_shared


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimumGain(Guard):
    """DOWN must save this share of the consumers, REASSIGN take this share of load off the fullest one."""

    min_gain: float
    guard: ClassVar[str] = "minimum gain"

    def __post_init__(self) -> None:
        if not 0 <= self.min_gain <= 1:
            raise InputError(f"min_gain is {self.min_gain}; give a share of 0 … 1")

    def plan(self, context: PlanContext) -> Plan:
        plan = self.wrapped.plan(context)
        if plan.action is Action.DOWN:
            gained = 1.0 - plan.target.count / plan.current.count
        elif plan.action is Action.REASSIGN:
            gained = gain(context, plan.target)
        else:
            return plan
        if gained >= self.min_gain or _orphaned(plan.current):
            return plan
        numbers = {"gained": gained, "min_gain": self.min_gain}
        return self.overrule(context, plan, Reason("gains {gained:.1%}, less than {min_gain:.1%}", numbers))


def gain(context: PlanContext, target: Assignment) -> float:
    """Share of its load that the fullest consumer loses; load is what must be served each second to keep the objective.

    Nothing is gained where rates or lag are unknown.
    """
    workload, current = context.workload, context.workload.assignment
    load = workload.arrival_eps + workload.lag_events / context.objective.latency_s
    total = float(load.sum())
    if not np.isfinite(total) or is_shared(current) or not current.count or not target.count:
        return 0.0
    before = float(current.load(load).max())
    return 1.0 - float(target.load(load).max()) / before if before > 0 else 0.0


def _orphaned(assignment: Assignment) -> bool:
    """Some partitions have an owner and others none: finding them one is always worth it."""
    return bool((assignment.owner == NOBODY).any()) and not is_shared(assignment)
