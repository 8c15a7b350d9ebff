"""The published optimum of the tail-latency paper: a replica for every μ·w of rate.

The paper means it with instant and free rebalancing; run it in a world that has that. One second's
events arrive as one burst there, so a replica that is to finish them within w takes μ·w events/s.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sluice.errors import InputError
from sluice.model import Plan, Reason
from sluice.model.values import FloatArray
from sluice.plan.base import PlanContext, hold, propose
from sluice.plan.placing import packed
from sluice.theory.packing import Packing, least_loaded

_REASON = "{rate_eps:.6g} events/s at most {capacity_eps:.6g} a consumer: {needed} consumers, {now} are there"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperOptimal:
    factor: float = 0.85
    """Share of μ·w that may be used. 0.85 gives the published costs to the second decimal on one workload and to 0.2 %
    on the other: the paper's consumers reached the objective at 85 events/s, not at 100."""
    down_factor: float | None = None
    """A consumer is removed when the others can do within this share of μ·w; by default at once, within `factor`."""
    name: ClassVar[str] = "paper-optimal"
    needs: ClassVar[tuple[str, ...]] = ("arrival_eps", "service_eps")

    def __post_init__(self) -> None:
        if not 0 < self.factor <= 1:
            raise InputError(f"paper-optimal: factor is {self.factor}; give a share above 0 and at most 1")
        if self.down_factor is not None and not 0 < self.down_factor <= self.factor:
            raise InputError(
                f"paper-optimal: down_factor is {self.down_factor}; give a share above 0, up to factor ({self.factor})"
            )

    def plan(self, context: PlanContext) -> Plan:
        workload = context.workload
        current, rate = workload.assignment, workload.arrival_eps
        assert workload.service_eps is not None  # declared in `needs`
        burst_eps = workload.service_eps * context.objective.latency_s
        capacity_eps = self.factor * burst_eps
        packing = _pack(rate, capacity_eps)
        needed = packing.count
        if self.down_factor is not None and needed < current.count:
            roomy = _pack(rate, self.down_factor * burst_eps)
            if roomy.count < current.count:
                packing = roomy
            needed = min(roomy.count, current.count)
        reason = Reason(
            _REASON,
            {
                "rate_eps": float(rate.sum()),
                "capacity_eps": capacity_eps,
                "needed": needed,
                "now": current.count,
            },
        )
        if needed == current.count and float(current.load(rate).max()) <= capacity_eps:
            return hold(context, self.name, reason)
        return propose(context, self.name, packed(current, packing.bins, needed, rate), reason)


def _pack(rate: FloatArray, capacity_eps: float) -> Packing:
    return least_loaded(rate, np.zeros(len(rate)), rate_capacity=capacity_eps, lag_capacity=1.0)
