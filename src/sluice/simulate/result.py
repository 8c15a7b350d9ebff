"""What a run came to."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate.group import Ownership
from sluice.theory.histogram import upper_edges


class Latencies(NamedTuple):
    """Every event's latency in order of arrival (exact), or a histogram of them."""

    exact_s: FloatArray | None
    histogram: IntArray | None
    largest_s: float

    def quantile_s(self, ratio: float) -> float:
        """The smallest latency that `ratio` of the events do not exceed; NaN without events."""
        if self.exact_s is not None:
            if not len(self.exact_s):
                return float("nan")
            return float(np.quantile(self.exact_s, ratio, method="inverted_cdf"))
        assert self.histogram is not None
        cumulative = np.cumsum(self.histogram)
        if not cumulative[-1]:
            return float("nan")
        bucket = int(np.searchsorted(cumulative, ratio * cumulative[-1]))
        return min(float(upper_edges()[bucket]), self.largest_s)

    def cdf(self, points: int = 400) -> tuple[FloatArray, FloatArray]:
        """(latency, share of events at most that late), thinned to about `points` points that keep the tail."""
        # Even steps in log(1 - share): the tail is what people look at.
        shares = np.unique(np.concatenate((np.linspace(0, 0.9, points // 2), 1 - np.geomspace(0.1, 1e-6, points // 2))))
        if self.exact_s is not None and len(self.exact_s):
            # All at once: the latencies are sorted once, not once a point.
            return np.quantile(self.exact_s, shares, method="inverted_cdf"), shares
        return np.array([self.quantile_s(float(share)) for share in shares]), shares


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """One entry a tick: how it stood when the decision was taken."""

    time_s: FloatArray
    consumers: IntArray
    arrival_eps: FloatArray
    lag_events: FloatArray
    worst_latency_s: FloatArray
    """Of the events started since the tick before."""
    action: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathResult:
    """The events that took one path, from their arrival outside to the end of its last stage."""

    stages: tuple[str, ...]
    objective_s: float
    """What late means on this path."""
    events: int
    late_events: int
    mean_s: float

    @property
    def sla_ratio(self) -> float:
        """Share of events within the path's objective; 1 when there were none."""
        return 1.0 - self.late_events / self.events if self.events else 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunResult:
    """One group's run."""

    group: str
    policy: str
    events: int
    late_events: int
    """Where paths end, each event by the objective of its path."""
    mean_s: float
    latencies: Latencies
    replica_seconds: float
    up: int
    down: int
    reassign: int
    moved_partitions: int
    rscore_mean: float
    timeline: Timeline
    ownership: tuple[Ownership, ...]
    paths: tuple[PathResult, ...] = ()
    """Those that end at this group."""

    @property
    def sla_ratio(self) -> float:
        """Share of events within the objective; 1 when there were none."""
        return 1.0 - self.late_events / self.events if self.events else 1.0

    @property
    def max_s(self) -> float:
        return self.latencies.largest_s if self.events else float("nan")

    @property
    def replica_minutes(self) -> float:
        return self.replica_seconds / 60.0
