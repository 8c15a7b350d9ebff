"""Kafka's round-robin assignor: all partitions of all topics dealt out one by one."""

from dataclasses import dataclass

from sluice.model import Assignment, Workload
from sluice.plan.balance.base import topic_numbers
from sluice.plan.placing import is_shared, sized
from sluice.theory.assignors import round_robin


@dataclass(frozen=True, slots=True)
class RoundRobin:
    def assign(self, workload: Workload, count: int) -> Assignment:
        current = workload.assignment
        if is_shared(current):
            return sized(current, count)
        return sized(current, count, round_robin(topic_numbers(current), count))
