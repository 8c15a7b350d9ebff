"""FLAS, its reactive part: response time against an upper and a lower threshold.

Published are the two thresholds' existence, the reaction window and the objective as upper threshold. The
lower threshold and the step are not; ours shrink only where the mean response is that of an idle consumer.
"""

from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Plan, Reason
from sluice.plan.base import PlanContext
from sluice.plan.guards.patience import MOST_TICKS
from sluice.plan.history import since_last_action
from sluice.plan.sizing import Sizing, resize

_REASON = (
    "mean response {latency_s:.3g} s, {above} ticks in a row above {upper_s:.3g} s and {below} below {lower_s:.3g} s, "
    "of {window} needed; {now} consumers"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flas(Sizing):
    upper_ratio: float = 1.0
    """Upper threshold as a share of the latency objective."""
    lower_ratio: float = 0.03
    window: int = 2
    """Ticks in a row beyond a threshold."""
    step_up: int = 2
    step_down: int = 1
    k_max: int = 64
    name: ClassVar[str] = "flas"
    needs: ClassVar[tuple[str, ...]] = ("latency_mean_s",)

    def __post_init__(self) -> None:
        Sizing.__post_init__(self)
        if not 0 < self.lower_ratio < self.upper_ratio:
            raise InputError(
                f"flas: lower_ratio is {self.lower_ratio} and upper_ratio is {self.upper_ratio}; give 0 < lower < upper"
            )
        if not 1 <= self.window <= MOST_TICKS:
            raise InputError(f"flas: window is {self.window}; give a number of ticks, 1 … {MOST_TICKS}")
        for field in ("step_up", "step_down", "k_max"):
            if getattr(self, field) < 1:
                raise InputError(f"flas: {field} is {getattr(self, field)}; give at least 1")

    def plan(self, context: PlanContext) -> Plan:
        upper_s = self.upper_ratio * context.objective.latency_s
        lower_s = self.lower_ratio * context.objective.latency_s
        # Nothing processed in a tick is no response time, and ends a run.
        seen = [workload.latency_mean_s for workload in since_last_action(context)[: self.window]]
        above = next((i for i, x in enumerate(seen) if x is None or not x > upper_s), len(seen))
        below = next((i for i, x in enumerate(seen) if x is None or not x < lower_s), len(seen))
        now = context.workload.assignment.count
        count = now
        if above >= self.window:
            count = max(now, min(now + self.step_up, self.k_max))
        elif below >= self.window:
            count = now - self.step_down
        reason = Reason(
            _REASON,
            {
                "latency_s": seen[0] if seen and seen[0] is not None else 0.0,
                "above": above,
                "below": below,
                "upper_s": upper_s,
                "lower_s": lower_s,
                "window": self.window,
                "now": now,
            },
        )
        return resize(context, self.name, count, self.balancing, reason)
