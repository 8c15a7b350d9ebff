"""What every policy does, and all it may look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sluice.model import Action, Assignment, Candidate, Decision, Objective, Plan, Reason, Workload, action_between


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext:
    """Everything a policy may use: no clock, no I/O, no memory besides `recent`."""

    workload: Workload
    objective: Objective
    recent: Sequence[Decision] = ()
    """The group's last decisions, oldest first."""
    peers: Mapping[str, Workload] | None = None
    """All groups of the topology by name, this one included; None when it is the only one."""


class Policy(Protocol):
    """Pure: the same context gives the same plan."""

    @property
    def name(self) -> str: ...

    def plan(self, context: PlanContext) -> Plan: ...


def hold(context: PlanContext, policy: str, reason: Reason, *, guard: str | None = None) -> Plan:
    """The plan to leave everything as it is."""
    return propose(context, policy, context.workload.assignment, reason, guard=guard)


def propose(
    context: PlanContext,
    policy: str,
    target: Assignment,
    reason: Reason,
    *,
    rejected: tuple[Candidate, ...] = (),
    guard: str | None = None,
    warnings: tuple[Reason, ...] = (),
) -> Plan:
    """A plan whose action follows from where the group stands and where it is to go."""
    workload = context.workload
    current = workload.assignment
    return Plan(
        group=workload.group,
        time_s=workload.time_s,
        policy=policy,
        action=Action.HOLD if target is current else action_between(current, target),
        current=current,
        target=target,
        reason=reason,
        rejected=rejected,
        guard=guard,
        warnings=warnings,
    )
