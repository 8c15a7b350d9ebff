"""Kafka's range assignor: topic by topic, a contiguous run of partitions for each consumer."""

from dataclasses import dataclass

from sluice.model import Assignment, Workload
from sluice.plan.balance.base import topic_numbers
from sluice.plan.placing import is_shared, sized
from sluice.theory.assignors import range_assignor


@dataclass(frozen=True, slots=True)
class Range:
    def assign(self, workload: Workload, count: int) -> Assignment:
        current = workload.assignment
        if is_shared(current):
            return sized(current, count)
        return sized(current, count, range_assignor(topic_numbers(current), count))
