"""As Flink's autoscaler does it: DS2, and on top of it what has piled up and what a restart will pile up.

    capacity = backlog / catch-up + inflow · restart / catch-up + inflow / utilisation

The number changes only when the capacity there is leaves the band that `utilisation ± boundary` gives (without
the restart), and shrinks by at most a share at a time. Flink's own times are minutes (catch-up 30, restart 5);
the defaults here suit groups with objectives of seconds.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Plan, Reason
from sluice.plan.base import PlanContext, hold
from sluice.plan.dataflow import Inflow, inflow
from sluice.plan.sizing import Sizing, resize

_REASON = (
    "{rate_eps:.6g} events/s to take in and {backlog:.6g} to catch up on ask for a capacity of {wanted_eps:.6g} "
    "events/s, {have_eps:.6g} are there ({low_eps:.6g} … {high_eps:.6g} is good enough): {needed} instances, not {now}"
)
_NO_RESTART = Reason("the time of a restart is not known yet: planned without it")
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Flink(Sizing):
    target_utilization: float = 0.7
    target_utilization_boundary: float = 0.3
    catch_up_s: float = 30.0
    """Backlog is to be gone after this time; 0: never mind backlog and restart."""
    restart_s: float | None = None
    """How long a change stops processing; None: the rebalance time measured."""
    scale_down_max_factor: float = 0.6
    """The most that may be taken away at once, as a share of the instances."""
    scale_up_max_factor: float = 100_000.0
    k_max: int = 200
    name: ClassVar[str] = "flink"
    needs: ClassVar[tuple[str, ...]] = ("arrival_eps", "lag_events", "service_eps")

    def __post_init__(self) -> None:
        Sizing.__post_init__(self)
        if not 0 < self.target_utilization <= 1:
            raise InputError(f"flink: target_utilization is {self.target_utilization}; give a share above 0, at most 1")
        if not 0 <= self.target_utilization_boundary < self.target_utilization:
            raise InputError(
                f"flink: target_utilization_boundary is {self.target_utilization_boundary}; give at least 0 and less "
                f"than target_utilization {self.target_utilization}"
            )
        for field in ("catch_up_s", "restart_s", "scale_up_max_factor"):
            value = getattr(self, field)
            if value is not None and not 0 <= value < math.inf:
                raise InputError(f"flink: {field} is {value}; give a number of at least 0")
        if not 0 <= self.scale_down_max_factor <= 1:
            raise InputError(f"flink: scale_down_max_factor is {self.scale_down_max_factor}; give a share of 0 … 1")
        if self.k_max < 1:
            raise InputError(f"flink: k_max is {self.k_max}; give at least 1")

    def plan(self, context: PlanContext) -> Plan:
        workload = context.workload
        assert workload.service_eps is not None  # declared in `needs`
        taken = inflow(context)
        if isinstance(taken, Reason):
            return hold(context, self.name, taken)
        restart_s = workload.rebalance_s if self.restart_s is None else self.restart_s
        now, service_eps = workload.assignment.count, workload.service_eps
        wanted_eps = self.capacity_eps(taken, self.target_utilization, restart_s or 0.0)
        low_eps = self.capacity_eps(taken, min(self.target_utilization + self.target_utilization_boundary, 1.0), 0.0)
        high_eps = self.capacity_eps(taken, self.target_utilization - self.target_utilization_boundary, 0.0)
        have_eps = now * service_eps
        needed = now
        if not low_eps <= have_eps <= high_eps:
            needed = math.ceil(wanted_eps / service_eps - _ROUNDING)
            # The restart term is in the target but not in the band: it never turns a shrinking into growth.
            needed = max(needed, now) if have_eps < low_eps else min(needed, now)
            least = math.ceil(now * (1 - self.scale_down_max_factor) - _ROUNDING)
            needed = min(max(needed, least), math.floor(max(now, 1) * (1 + self.scale_up_max_factor)), self.k_max)
        reason = Reason(
            _REASON,
            {
                "rate_eps": taken.rate_eps,
                "backlog": taken.backlog_events,
                "wanted_eps": wanted_eps,
                "have_eps": have_eps,
                "low_eps": low_eps,
                "high_eps": high_eps,
                "needed": needed,
                "now": now,
            },
        )
        warnings = (_NO_RESTART,) if restart_s is None else ()
        return resize(context, self.name, needed, self.balancing, reason, warnings=warnings)

    def capacity_eps(self, taken: Inflow, utilization: float, restart_s: float) -> float:
        """The capacity that takes this in at this utilisation, and catches up in time."""
        extra_eps = (taken.backlog_events + taken.rate_eps * restart_s) / self.catch_up_s if self.catch_up_s else 0.0
        return extra_eps + taken.rate_eps / utilization
