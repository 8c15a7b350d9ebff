"""What was measured, and when. Nothing here is interpreted yet."""

from dataclasses import dataclass
from enum import StrEnum

from sluice.model.assignment import Assignment, Partition
from sluice.model.sketch import LatencySketch
from sluice.model.values import FloatArray, Value


class LagBasis(StrEnum):
    """What counts as done. A batch in work is lag by its commit, and no lag by what its consumer has processed."""

    COMMITTED = "committed"
    PROCESSED = "processed"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConsumerReports(Value):
    """What consumers say of themselves: counters since their start, one entry for each consumer of the assignment.

    Counters can be subtracted at any two instants, so nothing is lost when a report is missed. NaN: silent.
    """

    processed_events: FloatArray
    emitted_events: FloatArray
    busy_s: FloatArray
    """Sum of service times."""
    busy_s2: FloatArray
    """Sum of squared service times."""
    latency_s: FloatArray
    """Sum of the latencies of the processed events."""
    gap_s: FloatArray
    """Sum of the times between two consecutive arrivals."""
    gap_s2: FloatArray
    """Sum of the squares of those times."""
    batches: FloatArray | None = None
    """Polls that brought something."""
    latency: tuple[LatencySketch | None, ...] | None = None
    """How the latencies are spread; None for a silent consumer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot(Value):
    """One group at one instant; arrays have one entry a partition."""

    group: str
    time_s: float
    assignment: Assignment
    end_events: FloatArray
    """End offset."""
    committed_events: FloatArray
    """Committed offset."""
    processed_events: FloatArray | None = None
    """Next position of the owner, as it reports it."""
    start_events: FloatArray | None = None
    """Log-start offset: what retention has deleted can no longer be lag."""
    end_bytes: FloatArray | None = None
    """Bytes ever written (or the log's size, where only that is known)."""
    owned_from_events: FloatArray | None = None
    """Offset from which on the owner reads each partition,"""
    owned_since_s: FloatArray | None = None
    """and since when it could: the assignment history that latencies are computed from afterwards."""
    lag_basis: LagBasis = LagBasis.COMMITTED
    """Which of the two positions the plan is to be made with."""
    reports: ConsumerReports | None = None
    pause_s: float | None = None
    """How long the last rebalance took; the batches it waited for do not count, they are lag already."""
    startup_s: float | None = None
    """How long the consumer that started last took until it could read."""
    settled: bool = True
    """False while a change of the group is still under way."""

    @property
    def partitions(self) -> tuple[Partition, ...]:
        return self.assignment.partitions
