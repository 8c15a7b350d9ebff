"""Policies that only say how many: the balancer deals out the partitions when the number changes."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from sluice.model import Assignment, Candidate, Plan, Reason
from sluice.plan.balance import balancer_named
from sluice.plan.balance.base import Balancer
from sluice.plan.base import PlanContext, hold, propose
from sluice.plan.placing import is_shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """Base of the policies that leave the assignment to a balancer."""

    balancer: str = "cooperative-sticky"

    def __post_init__(self) -> None:
        balancer_named(self.balancer)

    @property
    def balancing(self) -> Balancer:
        return balancer_named(self.balancer)


@runtime_checkable
class Balanced(Protocol):
    """A policy that leaves the assignment to a balancer."""

    @property
    def balancing(self) -> Balancer: ...


@runtime_checkable
class Idling(Protocol):
    """A policy that says itself whether consumers may outnumber partitions."""

    @property
    def allow_idle(self) -> bool: ...


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
    count = max(count, 1) if idle else most_consumers(current, max(count, 1))
    if count == current.count and _all_owned(context):
        return hold(context, policy, reason, rejected=rejected, warnings=warnings)
    target = balancer.assign(context.workload, count)
    return propose(context, policy, target, reason, rejected=rejected, warnings=warnings)


def most_consumers(current: Assignment, limit: int) -> int:
    """The limit, or the number of partitions if that is less; who shares a subscription may outnumber them."""
    partitions = len(current.partitions)
    return limit if limit <= partitions or is_shared(current) else partitions


def _all_owned(context: PlanContext) -> bool:
    current = context.workload.assignment
    return bool(current.owner.min(initial=0) >= 0) or is_shared(current)
