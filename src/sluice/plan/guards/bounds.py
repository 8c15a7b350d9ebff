"""Never fewer consumers than asked for, never more, and never more than partitions."""

from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Action, Plan, Reason
from sluice.plan.balance import balancer_named
from sluice.plan.base import PlanContext
from sluice.plan.guards.base import Guard
from sluice.plan.guards.gain import gain
from sluice.plan.placing import is_shared
from sluice.plan.sizing import Balanced


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(Guard):
    """Repacks into the allowed number: with the policy's own balancer if it has one, else by even load."""

    min_consumers: int = 1
    max_consumers: int | None = None
    allow_idle: bool = False
    """More consumers than partitions are allowed; the rest idles and costs."""
    repack_gain: float = 0.1
    """At the upper bound partitions move only if the fullest consumer loses this share of its load."""
    guard: ClassVar[str] = "bounds"

    def __post_init__(self) -> None:
        if self.min_consumers < 1:
            raise InputError(f"min_consumers is {self.min_consumers}; give at least 1")
        if self.max_consumers is not None and self.max_consumers < self.min_consumers:
            raise InputError(
                f"max_consumers is {self.max_consumers}, below min_consumers {self.min_consumers}; give at least that"
            )
        if not 0 <= self.repack_gain <= 1:
            raise InputError(f"repack_gain is {self.repack_gain}; give a share of 0 … 1")

    def plan(self, context: PlanContext) -> Plan:
        plan = self.wrapped.plan(context)
        wanted = len(plan.target.consumers)
        current = context.workload.assignment
        allowed = max(wanted, self.min_consumers)
        if self.max_consumers is not None:
            allowed = min(allowed, self.max_consumers)
        if allowed > len(current.partitions) and not self.allow_idle and not is_shared(current):
            allowed = len(current.partitions)
        if allowed == wanted:
            return plan
        now = current.count
        numbers = {"count": wanted, "allowed": allowed, "partitions": len(current.partitions)}
        why = Reason("{count} consumers are out of bounds: {allowed} for {partitions} partitions", numbers)
        if allowed == now and plan.action is not Action.UP:
            return self.overrule(context, plan, why)
        balancer = self.wrapped.balancing if isinstance(self.wrapped, Balanced) else balancer_named("least-loaded")
        target = balancer.assign(context.workload, allowed)
        if allowed == now and not gain(context, target) >= self.repack_gain:
            return self.overrule(context, plan, why)
        return self.overrule(context, plan, why, target)
