"""A verdict on what no number of consumers can do: an objective below what service alone takes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sluice.model import Plan, Reason, replace
from sluice.plan.base import PlanContext
from sluice.plan.guards.base import Guard

_VERDICT = (
    "service alone takes {service_s:.3g} s along {path}: no number of consumers keeps the objective of {latency_s:.3g} "
    "s; bounded at {bound}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reachable(Guard):
    """Overrules nobody: the plan stands, within its bounds, and says that it will not be enough.

    A scenario that promises too much is refused when it is read; here service is measured, and may become slower.
    """

    guard: ClassVar[str] = "unreachable"

    def plan(self, context: PlanContext) -> Plan:
        plan = self.wrapped.plan(context)
        service_eps = context.workload.service_eps
        if service_eps is None or (context.topology is None and service_eps * context.objective.latency_s > 1):
            return plan
        verdicts = tuple(
            Reason(
                _VERDICT,
                {
                    "service_s": service_s,
                    "path": " → ".join(path),
                    "latency_s": latency_s,
                    "bound": plan.target.count,
                },
            )
            for path, service_s, latency_s in _along(context)
            if service_s >= latency_s
        )
        return replace(plan, warnings=(*plan.warnings, *verdicts)) if verdicts else plan


def _along(context: PlanContext) -> Iterator[tuple[tuple[str, ...], float, float]]:
    """(path, seconds of service, objective) of the paths through the group; who is not measured counts as nothing."""
    own = context.workload.group
    peers = {**(context.peers or {}), own: context.workload}
    paths = context.topology.paths if context.topology is not None else ((own,),)
    for path in paths:
        if own in path:
            rates = (peers[name].service_eps for name in path if name in peers)
            yield path, sum(1 / eps for eps in rates if eps), context.objective.along(path).latency_s
