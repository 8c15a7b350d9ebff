"""A group that nobody serves gets its first consumers, whatever else is known of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sluice.model import Assignment, Plan, Reason
from sluice.model.assignment import fresh_names
from sluice.model.values import ints
from sluice.plan.base import PlanContext, propose
from sluice.plan.guards.base import Guard


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence(Guard):
    """No consumer, no service rate: a policy that must know it could never start the first one."""

    initial_consumers: Mapping[str, int]
    """By group; 1 where none is given."""
    guard: ClassVar[str] = "presence"

    def plan(self, context: PlanContext) -> Plan:
        current = context.workload.assignment
        partitions = len(current.partitions)
        if current.count or not partitions or not context.workload.settled:
            return self.wrapped.plan(context)
        count = min(self.initial_consumers.get(context.workload.group, 1), partitions)
        # Contiguous ranges: nothing is known yet that would tell partitions apart.
        owner = np.arange(partitions) * count // partitions
        target = Assignment(partitions=current.partitions, consumers=fresh_names((), count), owner=ints(owner))
        why = Reason("nobody serves the group: {count} consumer(s) to begin with", {"count": count})
        return propose(context, self.name, target, why, guard=self.guard)
