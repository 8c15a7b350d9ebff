"""No second action until the last one has had time to show its effect."""

import math
from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Action, Plan, Reason
from sluice.plan.base import PlanContext
from sluice.plan.guards.base import Guard, back_to


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolDown(Guard):
    """What counts is what was done, by the receipts: advice that nobody followed starts no cool-down."""

    cooldown_s: float
    guard: ClassVar[str] = "cool-down"

    def __post_init__(self) -> None:
        if not 0 <= self.cooldown_s < math.inf:
            raise InputError(f"cooldown_s is {self.cooldown_s}; give a time of at least 0 s")

    def _memory_s(self) -> float:
        return self.cooldown_s

    def plan(self, context: PlanContext) -> Plan:
        plan = self.wrapped.plan(context)
        if plan.action is Action.HOLD:
            return plan
        for decision in back_to(context, self.cooldown_s):
            if decision.acted:
                numbers = {"since_s": context.workload.time_s - decision.time_s, "cooldown_s": self.cooldown_s}
                why = Reason("{since_s:.3g} s after the last action; the cool-down is {cooldown_s:.3g} s", numbers)
                return self.overrule(context, plan, why)
        return plan
