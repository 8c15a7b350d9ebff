"""Algorithm 1: the fewest consumers whose rate and lag both stay inside the latency objective.

A consumer that serves μ events/s is safe within w seconds while its partitions bring at most μ
events/s and hold at most μ·w events of lag. Both capacities are scaled by `f_up` when growing and by
the smaller `f_down` when shrinking: the gap keeps the group from flapping.
"""

from dataclasses import dataclass
from typing import ClassVar

from sluice.model import Action, Plan
from sluice.plan.base import PlanContext, hold, propose
from sluice.plan.verdict import NEEDS, candidates, check_factors, grown, judge, load_of, reason, shrunk, warnings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Binpack:
    f_up: float = 0.9
    f_down: float = 0.4
    name: ClassVar[str] = "binpack"
    needs: ClassVar[tuple[str, ...]] = NEEDS

    def __post_init__(self) -> None:
        check_factors(self.name, self.f_up, self.f_down)

    def plan(self, context: PlanContext) -> Plan:
        load = load_of(context)
        current = context.workload.assignment
        verdict = judge(load, current, self.f_up, self.f_down)
        why = reason(verdict, load, current, self.f_up, self.f_down)
        warnings = warnings_of(context, verdict.check)
        if verdict.action is Action.HOLD:
            return hold(context, self.name, why, warnings=warnings)
        down = verdict.action is Action.DOWN
        target = shrunk(load, current, self.f_down) if down else grown(load, current, self.f_up)
        rejected = candidates(verdict, current, self.f_up, self.f_down)
        return propose(context, self.name, target, why, rejected=rejected, warnings=warnings)
