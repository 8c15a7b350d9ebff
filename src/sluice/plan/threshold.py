"""One instance more above a backlog, one less below another."""

from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Plan, Reason
from sluice.plan.base import PlanContext
from sluice.plan.sizing import Sizing, resize

_REASON = "backlog {backlog:.6g}: one less up to {t_in:.6g}, one more above {t_out:.6g}; {now} instances of {k_max}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold(Sizing):
    t_in: float = 50.0
    t_out: float = 150.0
    k_max: int = 15
    name: ClassVar[str] = "threshold"
    needs: ClassVar[tuple[str, ...]] = ("lag_events",)

    def __post_init__(self) -> None:
        Sizing.__post_init__(self)
        if not 0 <= self.t_in < self.t_out:
            raise InputError(f"threshold: t_in is {self.t_in} and t_out is {self.t_out}; give 0 <= t_in < t_out")
        if self.k_max < 1:
            raise InputError(f"threshold: k_max is {self.k_max}; give at least 1")

    def plan(self, context: PlanContext) -> Plan:
        backlog = float(context.workload.lag_events.sum())
        now = context.workload.assignment.count
        step = 1 if backlog > self.t_out else -1 if backlog <= self.t_in else 0
        numbers = {"backlog": backlog, "t_in": self.t_in, "t_out": self.t_out, "now": now, "k_max": self.k_max}
        return resize(context, self.name, min(now + step, self.k_max), self.balancing, Reason(_REASON, numbers))
