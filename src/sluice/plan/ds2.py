"""DS2: instances = what a stage must take in ÷ what one instance really processes while it is busy.

True processing rate is records ÷ useful time. One pass from the sources gives every stage its target at once,
assuming that all before it keep up.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Plan, Reason
from sluice.plan.base import PlanContext, hold
from sluice.plan.dataflow import inflow
from sluice.plan.sizing import Sizing, resize

_REASON = "{rate_eps:.6g} events/s to take in / {service_eps:.6g} an instance: {needed} instances, {now} are there"
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Ds2(Sizing):
    k_max: int = 100
    name: ClassVar[str] = "ds2"
    needs: ClassVar[tuple[str, ...]] = ("arrival_eps", "lag_events", "service_eps")

    def __post_init__(self) -> None:
        Sizing.__post_init__(self)
        if self.k_max < 1:
            raise InputError(f"ds2: k_max is {self.k_max}; give at least 1")

    def plan(self, context: PlanContext) -> Plan:
        workload = context.workload
        assert workload.service_eps is not None  # declared in `needs`
        taken = inflow(context)
        if isinstance(taken, Reason):
            return hold(context, self.name, taken)
        needed = math.ceil(taken.rate_eps / workload.service_eps - _ROUNDING)
        numbers = {
            "rate_eps": taken.rate_eps,
            "service_eps": workload.service_eps,
            "needed": needed,
            "now": workload.assignment.count,
        }
        return resize(context, self.name, min(needed, self.k_max), self.balancing, Reason(_REASON, numbers))
