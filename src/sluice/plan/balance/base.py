"""What every balancer does."""

from typing import Protocol

import numpy as np

from sluice.model import Assignment, Workload
from sluice.model.values import IntArray


class Balancer(Protocol):
    """Pure: the same workload and number of consumers give the same assignment."""

    def assign(self, workload: Workload, count: int) -> Assignment:
        """All partitions over exactly `count` consumers; where members share one subscription only the count."""
        ...


def topic_numbers(assignment: Assignment) -> IntArray:
    """The topic of each partition as a number, ascending: partitions are sorted by topic and number."""
    topics = {topic: i for i, topic in enumerate(sorted({p.topic for p in assignment.partitions}))}
    return np.array([topics[p.topic] for p in assignment.partitions], dtype=np.int64)
