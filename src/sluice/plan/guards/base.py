"""What all guards share: they wrap a policy, and an overruled plan stays visible as a candidate that lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sluice.model import Action, Assignment, Candidate, Decision, Plan, Reason
from sluice.plan.base import PlanContext, Policy, memory_s, propose

# Rounding of times that are sums of tick intervals.
TOLERANCE_S = 1e-6


@dataclass(frozen=True, slots=True)
class Guard:
    """A policy around another one; it has no memory besides `context.recent`."""

    wrapped: Policy
    guard: ClassVar[str]
    """The name a plan carries when this guard overruled the policy."""

    @property
    def name(self) -> str:
        return self.wrapped.name

    @property
    def memory_s(self) -> float:
        return max(self._memory_s(), memory_s(self.wrapped))

    def _memory_s(self) -> float:
        return 0.0

    def plan(self, context: PlanContext) -> Plan:
        raise NotImplementedError  # what a guard does is all that each one writes for itself

    def overrule(self, context: PlanContext, plan: Plan, why: Reason, target: Assignment | None = None) -> Plan:
        """Hold, or go to `target`, instead of the plan; what the plan wanted is kept with both reasons."""
        numbers = {**why.numbers, "wanted": str(plan.reason)}
        wanted = Candidate(
            name=plan.action.value,
            consumers=plan.target.count,
            why_not=Reason(why.template + " (wanted: {wanted})", numbers),
        )
        return propose(
            context,
            plan.policy,
            target if target is not None else context.workload.assignment,
            why,
            rejected=(wanted, *plan.rejected),
            guard=self.guard,
            warnings=plan.warnings,
        )


def wanted(plan: Plan, guards: frozenset[str]) -> Action:
    """What the policy asked for: the plan's action, or what one of `guards` put off."""
    if plan.action is Action.HOLD and plan.guard in guards and plan.rejected:
        return Action(plan.rejected[0].name)
    return plan.action


def back_to(context: PlanContext, seconds: float) -> Iterator[Decision]:
    """The decisions of the last `seconds`, newest first."""
    since = context.workload.time_s - seconds + TOLERANCE_S
    for decision in reversed(context.recent):
        if decision.time_s < since:
            return
        yield decision
