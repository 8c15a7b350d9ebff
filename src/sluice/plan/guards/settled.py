"""No new change while one is still under way."""

from dataclasses import dataclass
from typing import ClassVar

from sluice.model import Action, Plan, Reason
from sluice.plan.base import PlanContext
from sluice.plan.guards.base import Guard

_WHY = Reason("a change of the group is still under way")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled(Guard):
    guard: ClassVar[str] = "unsettled"

    def plan(self, context: PlanContext) -> Plan:
        plan = self.wrapped.plan(context)
        if plan.action is Action.HOLD or context.workload.settled:
            return plan
        return self.overrule(context, plan, _WHY)
