"""Kafka's cooperative-sticky assignor: even counts with the fewest moves."""

from dataclasses import dataclass

from sluice.model import Assignment, Workload
from sluice.plan.balance.base import topic_numbers
from sluice.plan.placing import is_shared, sized
from sluice.theory.assignors import cooperative_sticky


@dataclass(frozen=True, slots=True)
class CooperativeSticky:
    def assign(self, workload: Workload, count: int) -> Assignment:
        current = workload.assignment
        if is_shared(current):
            return sized(current, count)
        return sized(current, count, cooperative_sticky(topic_numbers(current), count, current.owner))
