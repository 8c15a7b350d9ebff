"""Looking back in `context.recent`: the only memory a policy has."""

from sluice.model import Workload
from sluice.plan.base import PlanContext

# Rounding of times that are sums of tick intervals.
TOLERANCE_S = 1e-6


def since_last_action(context: PlanContext, rest_s: float = 0.0) -> list[Workload]:
    """This tick's workload and those before it, newest first, back to the last action; not those of its rest.

    The tick that acted is not among them: what it had gathered was spent.
    """
    seen = [context.workload]
    for decision in reversed(context.recent):
        if decision.acted:
            rested_s = decision.time_s + rest_s - TOLERANCE_S
            return [workload for workload in seen if workload.time_s >= rested_s]
        seen.append(decision.workload)
    return seen
