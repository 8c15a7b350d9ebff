"""Even load: the biggest partition first, each to the consumer with the least rate."""

from dataclasses import dataclass

import numpy as np

from sluice.model import Assignment, Workload
from sluice.model.values import FloatArray
from sluice.plan.placing import packed
from sluice.theory.packing import spread


@dataclass(frozen=True, slots=True)
class LeastLoaded:
    def assign(self, workload: Workload, count: int) -> Assignment:
        rate, lag = _or_nothing(workload.arrival_eps), _or_nothing(workload.lag_events)
        return packed(workload.assignment, spread(rate, lag, count), count, rate)


def _or_nothing(values: FloatArray) -> FloatArray:
    # Where a number is unknown the partition still needs an owner; it is dealt out by count.
    return np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
