"""Enough consumers for the peak, from the first tick to the last."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sluice.errors import InputError
from sluice.model import Plan, Reason
from sluice.plan.base import PlanContext, hold, propose
from sluice.plan.placing import packed
from sluice.theory.packing import least_loaded

_HOLD = "{now} consumers stay for a peak of {peak_eps:.6g} events/s"
_UP = "a peak of {peak_eps:.6g} events/s, arriving as one burst, needs {needed} consumers; {now} are there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overprovision:
    """Packs the peak rate, spread evenly, with a whole burst of it as lag; never shrinks."""

    peak_eps: float | None = None
    """None: the highest rate of the decisions remembered."""
    factor: float = 0.9
    """Share of the capacity that may be used."""
    name: ClassVar[str] = "overprovision"
    needs: ClassVar[tuple[str, ...]] = ("arrival_eps", "service_eps")

    def __post_init__(self) -> None:
        if self.peak_eps is not None and not 0 <= self.peak_eps < math.inf:
            raise InputError(f"overprovision: peak_eps is {self.peak_eps}; give a rate of at least 0 events/s")
        if not 0 < self.factor <= 1:
            raise InputError(f"overprovision: factor is {self.factor}; give a share above 0 and at most 1")

    def plan(self, context: PlanContext) -> Plan:
        workload = context.workload
        current = workload.assignment
        assert workload.service_eps is not None  # declared in `needs`
        peak_eps = self._peak_eps(context)
        share = np.full(len(current.partitions), peak_eps / len(current.partitions))
        capacity = workload.service_eps * self.factor
        packing = least_loaded(
            share, share, rate_capacity=capacity, lag_capacity=capacity * context.objective.latency_s
        )
        numbers = {"now": current.count, "needed": packing.count, "peak_eps": peak_eps}
        if packing.count <= current.count:
            return hold(context, self.name, Reason(_HOLD, numbers))
        target = packed(current, packing.bins, packing.count, workload.arrival_eps)
        return propose(context, self.name, target, Reason(_UP, numbers))

    def _peak_eps(self, context: PlanContext) -> float:
        if self.peak_eps is not None:
            return self.peak_eps
        workloads = (context.workload, *(decision.workload for decision in context.recent))
        seen = (float(workload.arrival_eps.sum()) for workload in workloads)
        return max(eps for eps in seen if math.isfinite(eps))
