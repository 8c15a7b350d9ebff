"""Consumers in proportion to the total rate; which partition goes where is left to a balancer."""

import math
from dataclasses import dataclass
from typing import ClassVar

from sluice.model import Plan, Reason
from sluice.plan.base import PlanContext
from sluice.plan.sizing import Sizing, resize
from sluice.plan.verdict import check_factors

_REASON = (
    "{rate_eps:.6g} events/s · {f_up} / ({service_eps:.6g} · {f_down}) asks for {needed} consumers, {now} are there"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear(Sizing):
    """⌈λ·f_up / (μ·f_down)⌉ consumers; lag and latency do not matter to it."""

    f_up: float = 0.9
    f_down: float = 0.4
    balancer: str = "range"
    name: ClassVar[str] = "linear"
    needs: ClassVar[tuple[str, ...]] = ("arrival_eps", "service_eps")

    def __post_init__(self) -> None:
        Sizing.__post_init__(self)
        check_factors(self.name, self.f_up, self.f_down)

    def plan(self, context: PlanContext) -> Plan:
        workload = context.workload
        assert workload.service_eps is not None  # declared in `needs`
        rate_eps = float(workload.arrival_eps.sum())
        needed = math.ceil(rate_eps * self.f_up / (workload.service_eps * self.f_down))
        reason = Reason(
            _REASON,
            {
                "rate_eps": rate_eps,
                "service_eps": workload.service_eps,
                "f_up": self.f_up,
                "f_down": self.f_down,
                "needed": needed,
                "now": workload.assignment.count,
            },
        )
        return resize(context, self.name, needed, self.balancing, reason)
