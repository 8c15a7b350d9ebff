"""What the measurements mean."""

import numpy as np

from sluice.model.assignment import Assignment, Partition
from sluice.model.values import FloatArray, Value


class Workload(Value, frozen=True, kw_only=True):
    """One group's load and strength; arrays have one entry a partition unless the name says otherwise."""

    group: str
    time_s: float
    assignment: Assignment
    arrival_eps: FloatArray
    lag_events: FloatArray
    arrival_bps: FloatArray | None = None
    forecast_eps: FloatArray | None = None
    """Rate expected one interval ahead."""
    peak_ratio: float | None = None
    """Peak to mean of the group's arrivals over the window: burstiness."""
    arrival_cv: float | None = None
    """Coefficient of variation of the times between arrivals."""
    service_eps: float | None = None
    """Events per second one busy consumer serves (the planner's μ)."""
    consumer_service_eps: FloatArray | None = None
    """The same for each consumer of the assignment; NaN where none has been measured."""
    service_cv: float | None = None
    """Coefficient of variation of service times."""
    capacity_bps: float | None = None
    """Bytes per second one consumer can read."""
    selectivity: float | None = None
    """Events written for each event read."""
    latency_mean_s: float | None = None
    """Mean latency of what was processed since the last observation."""
    rebalance_s: float | None = None
    """How long a moved partition stands still (the planner's t_r)."""
    startup_s: float | None = None
    settled: bool = True

    @property
    def partitions(self) -> tuple[Partition, ...]:
        return self.assignment.partitions

    @property
    def known(self) -> bool:
        """Rates and lag of every partition are there: enough to decide on."""
        # A sum is NaN as soon as one entry is: two reductions, no temporaries.
        return bool(np.isfinite(self.arrival_eps.sum()) and np.isfinite(self.lag_events.sum()))
