"""Rates over a sliding window of snapshots, strength of the consumers from their own counters."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.analyze.arrivals import peak_ratio, rates_of
from sluice.analyze.strength import measured_strength
from sluice.errors import InputError
from sluice.model import Decision, Snapshot, Workload
from sluice.model.values import frozen

# Two ticks one window apart may differ by rounding.
_TOLERANCE_S = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowAnalyzer:
    """What is not measured yet comes from the priors; what was measured once is kept until measured again."""

    window_s: float = 1.0
    """Rates are means over this time (over one tick, where ticks are longer)."""
    bursts: bool = False
    """Producers send in bursts about one tick apart: a tick that none fell into keeps the rate of the one before."""
    burst_period_s: float | None = None
    """Time from one burst to the next, where it is known: rates are then per period, whatever the ticks."""
    service_window_s: float = 30.0
    """Service rate, variability and selectivity are means over this time."""
    rebalance_quantile: float = 0.99
    service_eps: float | None = None
    capacity_bps: float | None = None
    rebalance_s: float | None = None
    startup_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("window_s", "burst_period_s", "service_window_s", "service_eps", "capacity_bps"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"analyzer {name} is {value}; give a number above 0")
        for name in ("rebalance_s", "startup_s"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise InputError(f"analyzer {name} is {value}; give a number of at least 0")
        if not 0 < self.rebalance_quantile <= 1:
            raise InputError(f"analyzer rebalance_quantile is {self.rebalance_quantile}; give a share of 0 … 1")

    def analyze(self, snapshot: Snapshot, recent: Sequence[Decision]) -> Workload:
        """The workload at this snapshot; without an earlier one its rates are unknown."""
        last = recent[-1] if recent else None
        before = _oldest_within(snapshot, recent, self.window_s)
        rate, lag, bps = rates_of(snapshot, before, last.snapshot if last is not None else None)
        if self.burst_period_s is not None and before is not None:
            ticked_s = snapshot.time_s - before.time_s
            # As many bursts as fit best: one in a tick that is about as long as the period.
            share = ticked_s / (max(1, round(ticked_s / self.burst_period_s)) * self.burst_period_s)
            rate, bps = frozen(rate * share), frozen(bps * share) if bps is not None else None
        if self.bursts and last is not None and _between_bursts(snapshot, recent):
            rate = last.workload.arrival_eps
            bps = last.workload.arrival_bps if bps is not None else None
        if snapshot.reports is not None:
            strength = measured_strength(snapshot, _oldest_within(snapshot, recent, self.service_window_s), last)
        else:
            strength = None
        old = last.workload if last is not None else None
        service_eps = strength.service_eps if strength is not None else old.service_eps if old is not None else None
        startup_s = snapshot.startup_s
        if startup_s is None and old is not None:
            startup_s = old.startup_s
        return Workload(
            group=snapshot.group,
            time_s=snapshot.time_s,
            assignment=snapshot.assignment,
            arrival_eps=rate,
            lag_events=lag,
            arrival_bps=bps,
            peak_ratio=peak_ratio(snapshot, before, recent),
            arrival_cv=strength.arrival_cv if strength is not None else None,
            service_eps=service_eps if service_eps is not None else self.service_eps,
            consumer_service_eps=strength.consumer_eps if strength is not None else None,
            service_cv=strength.service_cv if strength is not None else None,
            capacity_bps=self.capacity_bps,
            selectivity=strength.selectivity if strength is not None else None,
            latency_mean_s=strength.latency_s if strength is not None else None,
            rebalance_s=self._rebalance_s(snapshot, recent),
            startup_s=startup_s if startup_s is not None else self.startup_s,
            settled=snapshot.settled,
        )

    def _rebalance_s(self, snapshot: Snapshot, recent: Sequence[Decision]) -> float | None:
        if not recent:
            return snapshot.pause_s if snapshot.pause_s is not None else self.rebalance_s
        last = recent[-1]
        if snapshot.pause_s == last.snapshot.pause_s and last.receipt.pause_s is None:
            return last.workload.rebalance_s  # nothing new was measured
        pauses = sorted(_pauses(snapshot, recent))
        if not pauses:
            return last.workload.rebalance_s
        return pauses[math.ceil(self.rebalance_quantile * len(pauses)) - 1]


def _between_bursts(snapshot: Snapshot, recent: Sequence[Decision]) -> bool:
    """Nothing came in this tick, but something did in the one before: two empty ticks in a row are no longer a gap."""
    if len(recent) < 2:
        return False
    end, before, long_before = snapshot.end_events, recent[-1].snapshot.end_events, recent[-2].snapshot.end_events
    return np.array_equal(end, before) and not np.array_equal(before, long_before)


def _oldest_within(snapshot: Snapshot, recent: Sequence[Decision], window_s: float) -> Snapshot | None:
    """The oldest snapshot of the window; the newest of all where ticks are longer than the window."""
    if not recent:
        return None
    since = snapshot.time_s - window_s - _TOLERANCE_S
    return recent[min(bisect_left(recent, since, key=_time_s), len(recent) - 1)].snapshot


def _time_s(decision: Decision) -> float:
    return decision.snapshot.time_s


def _pauses(snapshot: Snapshot, recent: Sequence[Decision]) -> list[float]:
    """Every pause measured: those in receipts, and each new value in a snapshot (which shows the last one for ever)."""
    pauses: list[float] = []
    shown: float | None = None
    for decision in recent:
        seen, done = decision.snapshot.pause_s, decision.receipt.pause_s
        if seen is not None and seen != shown:
            pauses.append(seen)
        if done is not None:
            pauses.append(done)
        shown = seen
    if snapshot.pause_s is not None and snapshot.pause_s != shown:
        pauses.append(snapshot.pause_s)
    return pauses
