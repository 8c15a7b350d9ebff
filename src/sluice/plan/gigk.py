"""GI/G/k for each function on its own: the fewest instances whose mean response keeps the objective."""

from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Plan, Reason
from sluice.plan.base import PlanContext
from sluice.plan.response import in_words, or_exponential, response_s
from sluice.plan.sizing import Sizing, most_consumers, resize
from sluice.theory.queueing import LightTraffic

_REASON = (
    "{rate_eps:.6g} events/s, {service_eps:.6g} an instance, cv {arrival_cv:.3g} and {service_cv:.3g}: {needed} "
    "instances answer in {response}, {now} are there"
)
_HOPELESS = "{bound} instances answer in {response}, the objective is {latency_s:.3g} s: out of reach, bounded there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gigk(Sizing):
    k_max: int = 15
    printed_formula: bool = False
    """Below a utilisation u of 0.7 use u^√(k+1), as the paper prints it, instead of the literature's u^((k+1)/2)."""
    name: ClassVar[str] = "gigk"
    needs: ClassVar[tuple[str, ...]] = ("arrival_eps", "service_eps")

    def __post_init__(self) -> None:
        Sizing.__post_init__(self)
        if self.k_max < 1:
            raise InputError(f"gigk: k_max is {self.k_max}; give at least 1")

    def plan(self, context: PlanContext) -> Plan:
        workload, latency_s = context.workload, context.objective.latency_s
        light = LightTraffic.PRINTED if self.printed_formula else LightTraffic.LITERATURE
        bound = most_consumers(workload.assignment, self.k_max)
        needed = next((k for k in range(1, bound) if response_s(workload, k, light) <= latency_s), bound)
        answer_s = response_s(workload, needed, light)
        reason = Reason(
            _REASON,
            {
                "rate_eps": float(workload.arrival_eps.sum()),
                "service_eps": workload.service_eps or 0.0,
                "arrival_cv": or_exponential(workload.arrival_cv),
                "service_cv": or_exponential(workload.service_cv),
                "needed": needed,
                "response": in_words(answer_s),
                "now": workload.assignment.count,
            },
        )
        warnings: tuple[Reason, ...] = ()
        if answer_s > latency_s:
            told: dict[str, float | int | str] = {
                "bound": bound,
                "response": in_words(answer_s),
                "latency_s": latency_s,
            }
            warnings = (Reason(_HOPELESS, told),)
        return resize(context, self.name, needed, self.balancing, reason, warnings=warnings)
