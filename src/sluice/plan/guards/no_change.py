"""A reassignment to what already stands is a hold."""

from dataclasses import dataclass
from typing import ClassVar

from sluice.model import Action, Plan, replace
from sluice.plan.base import PlanContext
from sluice.plan.guards.base import Guard


@dataclass(frozen=True, slots=True, kw_only=True)
class NoChange(Guard):
    guard: ClassVar[str] = "no change"

    def plan(self, context: PlanContext) -> Plan:
        plan = self.wrapped.plan(context)
        if plan.action is Action.HOLD or not plan.current.same_as(plan.target):
            return plan
        return replace(plan, action=Action.HOLD, target=plan.current, guard=self.guard, prediction=None)
