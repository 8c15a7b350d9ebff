"""KEDA's Kafka rule inside the Horizontal Pod Autoscaler: the baseline most groups run with today.

KEDA reports the group's lag, capped so that lag / lagThreshold is at most the number of partitions; the
autoscaler asks for ⌈lag / lagThreshold⌉ replicas outside its dead band, holds recommendations back for its
stabilisation windows and limits how fast the number changes. No rate, no latency, no assignment.

Scaling to zero, and the two options that only matter for it, are left out: nobody keeps a latency objective.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Action, Decision, Plan, Reason, Workload
from sluice.model.values import FloatArray
from sluice.plan.base import PlanContext, hold
from sluice.plan.hpa import Changes, Direction, limited, recommended, stabilized
from sluice.plan.placing import is_shared
from sluice.plan.sizing import Sizing, resize
from sluice.theory.loads import usable

_WAIT = "the autoscaler looks again in {wait_s:.3g} s"
_REASON = (
    "lag {lag:.6g} (reported as {metric:.6g}) / {lag_threshold} asks for {desired} consumers, {stable} after "
    "stabilisation, {allowed} within the limits of change; {now} are there"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keda(Sizing):
    lag_threshold: int = 10
    min_replica_count: int = 1
    max_replica_count: int = 100
    allow_idle_consumers: bool = False
    limit_to_partitions_with_lag: bool = False
    ensure_even_distribution_of_partitions: bool = False
    polling_interval_s: float = 30.0
    use_cached_metrics: bool = False
    """The autoscaler gets the value of KEDA's last poll; otherwise each of its own questions is a fresh one."""
    sync_period_s: float = 15.0
    """How often the autoscaler looks."""
    tolerance: float = 0.1
    scale_up_tolerance: float | None = None
    scale_up_stabilization_s: float = 0.0
    scale_up_percent: float | None = 100.0
    scale_up_pods: int | None = 4
    scale_up_period_s: float = 15.0
    scale_up_select: str = "Max"
    scale_down_tolerance: float | None = None
    scale_down_stabilization_s: float = 300.0
    scale_down_percent: float | None = 100.0
    scale_down_pods: int | None = None
    scale_down_period_s: float = 15.0
    scale_down_select: str = "Max"
    name: ClassVar[str] = "keda"
    needs: ClassVar[tuple[str, ...]] = ("lag_events",)

    def __post_init__(self) -> None:
        Sizing.__post_init__(self)
        for field in ("lag_threshold", "min_replica_count", "max_replica_count", "polling_interval_s", "sync_period_s"):
            if not getattr(self, field) > 0:
                raise InputError(f"keda: {field} is {getattr(self, field)}; give a number above 0")
        if self.max_replica_count < self.min_replica_count:
            raise InputError(
                f"keda: max_replica_count is {self.max_replica_count}, below min_replica_count "
                f"{self.min_replica_count}; give at least that"
            )
        if self.allow_idle_consumers and self.limit_to_partitions_with_lag:
            raise InputError("keda: allow_idle_consumers and limit_to_partitions_with_lag exclude each other; set one")
        self._up.check("keda scale_up")
        self._down.check("keda scale_down")

    @property
    def allow_idle(self) -> bool:
        return self.allow_idle_consumers

    @property
    def memory_s(self) -> float:
        windows = (self.scale_up_stabilization_s, self.scale_down_stabilization_s)
        return max(*windows, self.scale_up_period_s, self.scale_down_period_s) + self.polling_interval_s

    def plan(self, context: PlanContext) -> Plan:
        now_s = context.workload.time_s
        if not self._is_sync(now_s, context.recent[-1].time_s if context.recent else None):
            due_s = (math.floor(now_s / self.sync_period_s) + 1) * self.sync_period_s
            return hold(context, self.name, Reason(_WAIT, {"wait_s": due_s - now_s}))
        current = context.workload.assignment.count
        seen = self._reading(context.workload, context.recent)
        shared = is_shared(context.workload.assignment)
        desired = self._recommended(seen, current, shared)
        stable = stabilized(
            current,
            desired,
            self._earlier(context, self.scale_up_stabilization_s),
            self._earlier(context, self.scale_down_stabilization_s),
        )
        stable = min(max(stable, self.min_replica_count), self.max_replica_count)
        allowed = limited(current, stable, _changes(context), self._up, self._down)
        reason = Reason(
            _REASON,
            {
                "lag": float(seen.sum()),
                "metric": self.metric(seen, shared),
                "lag_threshold": self.lag_threshold,
                "desired": desired,
                "stable": stable,
                "allowed": allowed,
                "now": current,
            },
        )
        return resize(context, self.name, allowed, self.balancing, reason, idle=self.allow_idle_consumers)

    def metric(self, lag: FloatArray, shared: bool = False) -> float:
        """The lag that KEDA reports; partitions are no bound where members share one subscription."""
        total, partitions = float(lag.sum()), len(lag)
        if shared:
            return total
        if self.ensure_even_distribution_of_partitions:
            even = (f for f in range(1, partitions + 1) if partitions % f == 0 and f * self.lag_threshold >= total)
            total = float(next(even, partitions) * self.lag_threshold)
        if self.limit_to_partitions_with_lag:
            partitions = int((lag > 0).sum())
        elif self.allow_idle_consumers and not self.ensure_even_distribution_of_partitions:
            return total
        return min(total, float(partitions * self.lag_threshold))

    @property
    def _up(self) -> Direction:
        tolerance = self.tolerance if self.scale_up_tolerance is None else self.scale_up_tolerance
        return Direction(
            stabilization_s=self.scale_up_stabilization_s,
            tolerance=tolerance,
            percent=self.scale_up_percent,
            pods=self.scale_up_pods,
            period_s=self.scale_up_period_s,
            select=self.scale_up_select,
        )

    @property
    def _down(self) -> Direction:
        tolerance = self.tolerance if self.scale_down_tolerance is None else self.scale_down_tolerance
        return Direction(
            stabilization_s=self.scale_down_stabilization_s,
            tolerance=tolerance,
            percent=self.scale_down_percent,
            pods=self.scale_down_pods,
            period_s=self.scale_down_period_s,
            select=self.scale_down_select,
        )

    def _recommended(self, lag: FloatArray, replicas: int, shared: bool) -> int:
        up, down = self._up.tolerance, self._down.tolerance
        return recommended(self.metric(lag, shared), self.lag_threshold, replicas, up, down)

    def _is_sync(self, time_s: float, before_s: float | None) -> bool:
        """The first tick of a sync period."""
        return before_s is None or math.floor(time_s / self.sync_period_s) > math.floor(before_s / self.sync_period_s)

    def _reading(self, workload: Workload, before: Sequence[Decision]) -> FloatArray:
        """The lag as the autoscaler sees it: now, or at the first tick of the current polling period."""
        found = workload.lag_events
        if not self.use_cached_metrics:
            return found
        period = math.floor(workload.time_s / self.polling_interval_s)
        for decision in reversed(before):
            if math.floor(decision.time_s / self.polling_interval_s) < period:
                break
            if usable(decision.workload.lag_events):
                found = decision.workload.lag_events
        return found

    def _earlier(self, context: PlanContext, window_s: float) -> list[int]:
        """What was recommended at the syncs of the window, worked out again from what was measured then."""
        found: list[int] = []
        if window_s <= 0:
            return found
        since_s = context.workload.time_s - window_s
        past = list(context.recent)
        first = past[0].workload if past else context.workload
        while past and past[-1].time_s > since_s:
            then = past.pop().workload
            if self._is_sync(then.time_s, past[-1].time_s if past else None) and usable(then.lag_events):
                lag, at = self._reading(then, past), then.assignment
                found.append(self._recommended(lag, at.count, is_shared(at)))
        if not past:
            # It has run for less than the window: the number it found counts as its first recommendation.
            found.append(first.assignment.count)
        return found


def _changes(context: PlanContext) -> Changes:
    now_s = context.workload.time_s
    return Changes(
        (now_s - decision.time_s, decision.plan.target.count - decision.plan.current.count)
        for decision in context.recent
        if decision.receipt.action in (Action.UP, Action.DOWN)
    )
