"""A queue model and the buffer's length, with a decision maker that waits for several equal opinions.

Queue model: c parallel M/M/1 queues fed λ/c each have a mean time in system of 1/(μ - λ/c), which is at most T_a
for c >= λ/(μ - 1/T_a). Buffer: c + w·(B - B_t)/B_t with B_t = 1.95·μ·c. Both are rounded half up.
The lists of the paper grow past their windows and then never fire; here a window is the last entries of a run.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from sluice.errors import InputError
from sluice.model import Action, Plan, Reason, Workload
from sluice.plan.base import PlanContext
from sluice.plan.guards.patience import MOST_TICKS
from sluice.plan.history import since_last_action
from sluice.plan.sizing import Sizing, most_consumers, resize
from sluice.theory.loads import usable

_REASON = (
    "queue model {by_queue}, buffer {by_buffer}, {now} consumers: {direction} wanted for {ticks} of {window} ticks, "
    "mean {target}"
)
_ROUNDING = 1e-9
# Mean of so many last opinions when shrinking.
_LAST = 3


class _Opinion(NamedTuple):
    by_queue: int
    by_buffer: int
    direction: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Mm1Buffer(Sizing):
    up_react_w: int = 2
    """Ticks in a row that want to grow; 4 for cooperative rebalancing."""
    down_react_w: int = 10
    buffer_weight: float = 1.5
    buffer_factor_s: float = 1.95
    """A buffer of so many seconds of service is as it should be."""
    rest_s: float = 10.0
    """After scaling nothing is looked at for this long."""
    k_max: int = 100
    name: ClassVar[str] = "mm1-buffer"
    needs: ClassVar[tuple[str, ...]] = ("arrival_eps", "lag_events", "service_eps")

    def __post_init__(self) -> None:
        Sizing.__post_init__(self)
        for field in ("up_react_w", "down_react_w"):
            if not 1 <= getattr(self, field) <= MOST_TICKS:
                raise InputError(
                    f"mm1-buffer: {field} is {getattr(self, field)}; give a number of ticks, 1 … {MOST_TICKS}"
                )
        for field in ("buffer_weight", "buffer_factor_s"):
            if not 0 < getattr(self, field) < math.inf:
                raise InputError(f"mm1-buffer: {field} is {getattr(self, field)}; give a number above 0")
        if self.k_max < 1:
            raise InputError(f"mm1-buffer: k_max is {self.k_max}; give at least 1")
        if not 0 <= self.rest_s < math.inf:
            raise InputError(f"mm1-buffer: rest_s is {self.rest_s}; give a time of at least 0 s")

    @property
    def memory_s(self) -> float:
        return self.rest_s

    def plan(self, context: PlanContext) -> Plan:
        workload, latency_s = context.workload, context.objective.latency_s
        now = workload.assignment.count
        opinion = self._opinion(workload, latency_s)
        run: list[int] = []
        for seen in since_last_action(context, self.rest_s):
            then = self._opinion(seen, latency_s) if _measured(seen) else None
            if then is None or then.direction is not opinion.direction:
                break
            run.append(max(then.by_queue, then.by_buffer))
        target, window = now, 0
        if opinion.direction is Action.UP:
            window = self.up_react_w
            target = _mean(run[:window]) if len(run) >= window else now
        elif opinion.direction is Action.DOWN:
            window = self.down_react_w
            target = _mean(run[:_LAST]) if len(run) >= window else now
        reason = Reason(
            _REASON,
            {
                "by_queue": opinion.by_queue,
                "by_buffer": opinion.by_buffer,
                "now": now,
                "direction": opinion.direction.value,
                "ticks": len(run),
                "window": window,
                "target": target,
            },
        )
        return resize(context, self.name, target, self.balancing, reason)

    def _opinion(self, workload: Workload, latency_s: float) -> _Opinion:
        now, bound = workload.assignment.count, most_consumers(workload.assignment, self.k_max)
        service_eps = workload.service_eps or 0.0
        by_queue = by_queue_model(float(workload.arrival_eps.sum()), service_eps, latency_s)
        full = self.buffer_factor_s * service_eps * max(now, 1)
        by_buffer = _half_up(now + self.buffer_weight * (float(workload.lag_events.sum()) - full) / full)
        queue, buffer = (bound if count is None else min(max(count, 1), bound) for count in (by_queue, by_buffer))
        if queue > now or buffer > now:
            return _Opinion(queue, buffer, Action.UP)
        if queue < now or buffer < now:
            return _Opinion(queue, buffer, Action.DOWN)
        return _Opinion(queue, buffer, Action.HOLD)


def by_queue_model(rate_eps: float, service_eps: float, latency_s: float) -> int | None:
    """The fewest parallel M/M/1 queues with a mean time in system within `latency_s`; None where none can."""
    spare_eps = service_eps - 1 / latency_s
    return math.ceil(rate_eps / spare_eps - _ROUNDING) if spare_eps > 0 else None


def _measured(workload: Workload) -> bool:
    return bool(workload.service_eps) and usable(workload.arrival_eps) and usable(workload.lag_events)


def _mean(counts: list[int]) -> int:
    return _half_up(sum(counts) / len(counts))


def _half_up(number: float) -> int:
    return math.floor(number + 0.5)
