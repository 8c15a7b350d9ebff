"""Policies that only say how many: the balancer deals out the partitions when the number changes."""

from typing import Protocol, runtime_checkable

from sluice.model import Candidate, Plan, Reason
from sluice.plan.balance.base import Balancer
from sluice.plan.base import PlanContext, hold, propose
from sluice.plan.placing import is_shared


@runtime_checkable
class Balanced(Protocol):
    """A policy that leaves the assignment to a balancer."""

    @property
    def balancing(self) -> Balancer: ...


def resize(
    context: PlanContext,
    policy: str,
    count: int,
    balancer: Balancer,
    reason: Reason,
    *,
    rejected: tuple[Candidate, ...] = (),
    warnings: tuple[Reason, ...] = (),
    idle: bool = False,
) -> Plan:
    """The plan for `count` consumers, at least one and, unless some may idle, no more than partitions.

    As long as the number stands nothing moves: so do Kafka's own assignors, which run on a change of members only.
    """
    current = context.workload.assignment
    count = max(count, 1)
    partitions = len(current.partitions)
    if count > partitions and not idle and not is_shared(current):
        count = partitions
    if count == current.count and _all_owned(context):
        return hold(context, policy, reason, rejected=rejected, warnings=warnings)
    target = balancer.assign(context.workload, count)
    return propose(context, policy, target, reason, rejected=rejected, warnings=warnings)


def _all_owned(context: PlanContext) -> bool:
    current = context.workload.assignment
    return bool(current.owner.min(initial=0) >= 0) or is_shared(current)
