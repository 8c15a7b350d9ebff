"""What is not known cannot be planned with: missing data is a hold, never a zero."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sluice.errors import InputError, did_you_mean
from sluice.model import Plan, Reason, Workload
from sluice.plan.base import Needy, PlanContext, Policy, hold
from sluice.plan.guards.base import Guard
from sluice.theory.loads import usable

# What a policy gets checked for that does not say what it needs.
DEFAULT_NEEDS = ("arrival_eps", "lag_events", "service_eps")
# Nothing can be divided by these at 0.
_POSITIVE = frozenset({"service_eps", "capacity_bps"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Guard):
    """Asks the policy only if all it needs is there; the policy itself is never shown a gap."""

    needs: tuple[str, ...]
    guard: ClassVar[str] = "missing data"

    def __post_init__(self) -> None:
        fields = Workload.__struct_fields__
        for name in self.needs:
            if name not in fields:
                raise InputError(f"policy {self.name} needs {name!r}; {did_you_mean(name, fields)}")

    def plan(self, context: PlanContext) -> Plan:
        workload = context.workload
        if not workload.assignment.partitions:
            return hold(context, self.name, Reason("the group has no partitions"), guard=self.guard)
        for field in self.needs:
            if not _is_known(field, getattr(workload, field)):
                return hold(context, self.name, Reason("{field} is not known", {"field": field}), guard=self.guard)
        return self.wrapped.plan(context)


def needs_of(policy: Policy) -> tuple[str, ...]:
    return policy.needs if isinstance(policy, Needy) else DEFAULT_NEEDS


def _is_known(field: str, value: object) -> bool:
    if isinstance(value, np.ndarray):
        return usable(value)
    if isinstance(value, float | int):
        return 0 < value < np.inf if field in _POSITIVE else 0 <= value < np.inf
    return False
