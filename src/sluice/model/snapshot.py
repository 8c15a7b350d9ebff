"""What was measured, and when. Nothing here is interpreted yet."""

from enum import StrEnum

from sluice.model.assignment import Assignment, Partition
from sluice.model.sketch import LatencySketch
from sluice.model.values import FloatArray, Value, floats


class LagBasis(StrEnum):
    """What counts as done. A batch in work is lag by its commit, and no lag by what its consumer has processed."""

    COMMITTED = "committed"
    PROCESSED = "processed"


COUNTERS = ("processed_events", "emitted_events", "busy_s", "busy_s2", "latency_s", "gap_s", "gap_s2")
"""Sums over the events processed: of their service times and the squares, of their latencies, of the times between two
consecutive arrivals and the squares."""


class ConsumerReports(Value, frozen=True, kw_only=True):
    """What consumers say of themselves: counters since their start.

    Counters can be subtracted at any two instants, so nothing is lost when a report is missed. NaN: silent.
    """

    counters: FloatArray
    """A row for each of COUNTERS, a column for each consumer of the assignment."""
    batches: FloatArray | None = None
    """Polls that brought something."""
    latency: tuple[LatencySketch | None, ...] | None = None
    """How the latencies are spread; None for a silent consumer."""

    @classmethod
    def of(
        cls,
        *,
        processed_events: FloatArray,
        emitted_events: FloatArray,
        busy_s: FloatArray,
        busy_s2: FloatArray,
        latency_s: FloatArray,
        gap_s: FloatArray,
        gap_s2: FloatArray,
        batches: FloatArray | None = None,
        latency: tuple[LatencySketch | None, ...] | None = None,
    ) -> "ConsumerReports":
        rows = (processed_events, emitted_events, busy_s, busy_s2, latency_s, gap_s, gap_s2)
        return cls(counters=floats(rows), batches=batches, latency=latency)

    def counter(self, name: str) -> FloatArray:
        """One of COUNTERS, an entry for each consumer."""
        row: FloatArray = self.counters[COUNTERS.index(name)]
        return row


class Snapshot(Value, frozen=True, kw_only=True):
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
