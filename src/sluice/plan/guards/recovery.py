"""Do not judge a group by the backlog of its own rebalance.

A rebalance of t_r seconds leaves λ·t_r events behind. Planning again before they are worked off sees
them as a violation and rebalances again: where t_r is no shorter than the tick, the group does nothing
but rebalance and never catches up. After an action it is left alone for t_r and, to catch up, for
`recovery_ratio` times as long again.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Action, Plan, Reason
from sluice.plan.base import PlanContext
from sluice.plan.guards.base import Guard, back_to


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery(Guard):
    recovery_ratio: float = 1.0
    guard: ClassVar[str] = "recovery"

    def __post_init__(self) -> None:
        if not 0 <= self.recovery_ratio < math.inf:
            raise InputError(f"recovery_ratio is {self.recovery_ratio}; give a number of at least 0")

    def plan(self, context: PlanContext) -> Plan:
        plan = self.wrapped.plan(context)
        pause_s = context.workload.rebalance_s
        if plan.action is Action.HOLD or pause_s is None:
            return plan
        needed_s = pause_s * (1.0 + self.recovery_ratio)
        for decision in back_to(context, needed_s):
            if decision.acted:
                since_s = context.workload.time_s - decision.time_s
                numbers = {"since_s": since_s, "pause_s": pause_s, "needed_s": needed_s}
                why = Reason(
                    "{since_s:.3g} s after the last action; a rebalance takes {pause_s:.3g} s and is caught up "
                    "after {needed_s:.3g} s",
                    numbers,
                )
                return self.overrule(context, plan, why)
        return plan
