"""Mean response time of a stage by GI/G/k, as the two queueing policies use it."""

import math

from sluice.model import Workload
from sluice.theory.loads import usable
from sluice.theory.queueing import LightTraffic, allen_cunneen_response_s


def response_s(workload: Workload, count: int, light_traffic: LightTraffic) -> float:
    """Of `count` instances that share one line; infinite if they cannot keep up.

    A variability that is not measured yet counts as exponential.
    """
    if count < 1:
        return math.inf
    return allen_cunneen_response_s(
        float(workload.arrival_eps.sum()),
        workload.service_eps or 0.0,
        count,
        arrival_cv=or_exponential(workload.arrival_cv),
        service_cv=or_exponential(workload.service_cv),
        light_traffic=light_traffic,
    )


def measured(workload: Workload) -> bool:
    return bool(workload.service_eps) and usable(workload.arrival_eps)


def or_exponential(cv: float | None) -> float:
    return 1.0 if cv is None else cv


def in_words(seconds: float) -> str:
    """Infinity has no place among a plan's numbers."""
    return f"{seconds:.3g} s" if math.isfinite(seconds) else "no finite time"
