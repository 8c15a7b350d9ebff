"""GI/G/k along each path of a topology: the slowest function of a slow path grows, the fastest of a quick one shrinks.

A path's response is the sum of its functions'. Above its objective (its own, or the one for all) its slowest function
gets one more instance; below alpha times it its fastest one that has more than one gives one back. Ours, where the
paper is silent: alpha, that growing wins where two paths disagree, and that nobody shrinks if that would bring a path
above its objective.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Objective, Plan, Reason, Workload
from sluice.plan.base import PlanContext, hold
from sluice.plan.response import in_words, measured, response_s
from sluice.plan.sizing import Sizing, most_consumers, resize
from sluice.theory.queueing import LightTraffic

Path = tuple[str, ...]

_REASON = (
    "path {path} answers in {response} (objective {latency_s:.3g} s, quick below {quick_s:.3g} s): {verdict}; "
    "{now} instances here"
)
_HOPELESS = (
    "path {path} answers in {response} with its slowest function at its bound of {bound} instances; the objective of "
    "{latency_s:.3g} s is out of reach"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GigkPath(Sizing):
    alpha: float = 0.5
    """Share of the objective below which a path is quick enough to give an instance back."""
    k_max: int = 15
    printed_formula: bool = False
    """As in `gigk`."""
    name: ClassVar[str] = "gigk-path"
    needs: ClassVar[tuple[str, ...]] = ("arrival_eps", "service_eps")

    def __post_init__(self) -> None:
        Sizing.__post_init__(self)
        if not 0 <= self.alpha < 1:
            raise InputError(f"gigk-path: alpha is {self.alpha}; give a share of at least 0 and below 1")
        if self.k_max < 1:
            raise InputError(f"gigk-path: k_max is {self.k_max}; give at least 1")

    def plan(self, context: PlanContext) -> Plan:
        own = context.workload.group
        workloads: Mapping[str, Workload] = {**(context.peers or {}), own: context.workload}
        paths = [path for path in context.topology.paths if own in path] if context.topology else [(own,)]
        for name in sorted({name for path in paths for name in path}):
            if name not in workloads or not measured(workloads[name]):
                return hold(context, self.name, Reason("rates of stage {stage} are not known", {"stage": name}))
        if not paths:
            return hold(context, self.name, Reason("stage {stage} is on no path of the topology", {"stage": own}))
        light = LightTraffic.PRINTED if self.printed_formula else LightTraffic.LITERATURE
        view = _View(workloads, light, context.objective)
        return self._decide(context, view, paths)

    def _decide(self, context: PlanContext, view: "_View", paths: Sequence[Path]) -> Plan:
        own, now = context.workload.group, context.workload.assignment.count
        bound = most_consumers(context.workload.assignment, self.k_max)
        chosen, count, verdict = max(paths, key=view.pressure), now, "nothing to do for this function"
        slow = [path for path in paths if view.pressure(path) > 1 and view.slowest(path) == own]
        quick = [path for path in paths if view.pressure(path) < self.alpha and view.spare(path, paths) == own]
        if slow:
            chosen, count, verdict = slow[0], min(now + 1, bound), "its slowest function grows"
            if now >= bound:
                verdict = "its slowest function is at its bound"
        elif quick:
            chosen, count, verdict = quick[0], now - 1, "its fastest function gives one back"
        limit_s = view.limit_s(chosen)
        reason = Reason(
            _REASON,
            {
                "path": " → ".join(chosen),
                "response": in_words(view.path_s(chosen)),
                "latency_s": limit_s,
                "quick_s": self.alpha * limit_s,
                "verdict": verdict,
                "now": now,
            },
        )
        warnings = tuple(
            Reason(
                _HOPELESS,
                {
                    "path": " → ".join(path),
                    "latency_s": view.limit_s(path),
                    "bound": bound,
                    "response": in_words(view.path_s(path)),
                },
            )
            for path in slow
            if now >= bound
        )
        return resize(context, self.name, count, self.balancing, reason, warnings=warnings)


@dataclass(frozen=True, slots=True)
class _View:
    """Response times along paths as the instances stand."""

    workloads: Mapping[str, Workload]
    light_traffic: LightTraffic
    objective: Objective

    def limit_s(self, path: Path) -> float:
        return self.objective.along(path).latency_s

    def pressure(self, path: Path) -> float:
        """Response over objective."""
        return self.path_s(path) / self.limit_s(path)

    def stage_s(self, name: str, fewer: int = 0) -> float:
        workload = self.workloads[name]
        return response_s(workload, workload.assignment.count - fewer, self.light_traffic)

    def path_s(self, path: Path, without: str | None = None) -> float:
        """Of a path; `without`: if that stage had one instance less."""
        return sum(self.stage_s(name, int(name == without)) for name in path)

    def slowest(self, path: Path) -> str:
        """By response; of those that never answer, the one furthest behind."""
        return max(path, key=lambda name: (self.stage_s(name), self._offered(name), name))

    def spare(self, path: Path, paths: Sequence[Path]) -> str | None:
        """The fastest function of the path that can give an instance back with every path still in time."""
        able = (
            name
            for name in sorted(path, key=lambda name: (self.stage_s(name), name))
            if self.workloads[name].assignment.count > 1
            and all(self.path_s(other, name) <= self.limit_s(other) for other in paths if name in other)
        )
        return next(able, None)

    def _offered(self, name: str) -> float:
        workload = self.workloads[name]
        return float(workload.arrival_eps.sum()) / ((workload.service_eps or 1.0) * max(workload.assignment.count, 1))
