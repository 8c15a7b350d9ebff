"""What every policy does, and all it may look at."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from sluice.model import (
    Action,
    Assignment,
    Candidate,
    Decision,
    Objective,
    Plan,
    Reason,
    Topology,
    Workload,
    action_between,
)
from sluice.model.values import Value
from sluice.plan.predict import predict


class PlanContext(Value, frozen=True, kw_only=True):
    """Everything a policy may use: no clock, no I/O, no memory besides `recent`."""

    workload: Workload
    objective: Objective
    recent: Sequence[Decision] = ()
    """The group's last decisions, oldest first."""
    peers: Mapping[str, Workload] | None = None
    """All groups of the topology by name, this one included; None when it is the only one."""
    topology: Topology | None = None
    """How the groups feed each other; None when nobody said."""


class Policy(Protocol):
    """Pure: the same context gives the same plan."""

    @property
    def name(self) -> str: ...

    def plan(self, context: PlanContext) -> Plan: ...


@runtime_checkable
class Needy(Protocol):
    """A policy that names the fields of the workload it cannot do without."""

    @property
    def needs(self) -> tuple[str, ...]: ...


@runtime_checkable
class Remembering(Protocol):
    """A policy that looks back in `recent`, and says how far."""

    @property
    def memory_s(self) -> float: ...


def memory_s(policy: Policy) -> float:
    """How many seconds of decisions `recent` must hold for this policy."""
    return policy.memory_s if isinstance(policy, Remembering) else 0.0


def hold(
    context: PlanContext,
    policy: str,
    reason: Reason,
    *,
    rejected: tuple[Candidate, ...] = (),
    guard: str | None = None,
    warnings: tuple[Reason, ...] = (),
) -> Plan:
    """The plan to leave everything as it is."""
    current = context.workload.assignment
    return propose(context, policy, current, reason, rejected=rejected, guard=guard, warnings=warnings)


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
    action = Action.HOLD if target is current else action_between(current, target)
    return Plan(
        group=workload.group,
        time_s=workload.time_s,
        policy=policy,
        action=action,
        current=current,
        target=target,
        reason=reason,
        rejected=rejected,
        guard=guard,
        warnings=warnings,
        prediction=None if action is Action.HOLD else predict(workload, target),
    )
