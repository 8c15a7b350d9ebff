"""Arrival rates and lag of each partition from two snapshots."""

import math
from collections.abc import Sequence

import numpy as np

from sluice.model import Decision, LagBasis, Partition, Snapshot
from sluice.model.values import FloatArray, floats, frozen
from sluice.theory.rates import rates_and_lag

_NONE = floats([])


def rates_of(
    snapshot: Snapshot, before: Snapshot | None, last: Snapshot | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Events/s since `before`, lag, and bytes/s where bytes are known. Without `before` rates are unknown.

    Where a counter was reset inside the window, the rate since the last snapshot counts.
    """
    table, unknown = _between(snapshot, before)
    if unknown and last is not None and last is not before:
        newer, _ = _between(snapshot, last)
        table = np.where(np.isnan(table), newer, table)
    rate, lag, bps = frozen(table)
    return rate, lag, bps if snapshot.end_bytes is not None else None


def peak_ratio(snapshot: Snapshot, before: Snapshot | None, recent: Sequence[Decision]) -> float | None:
    """Peak to mean of the ticks since `before`; neither one tick alone nor one instant seen twice has a peak."""
    if before is None or before is recent[-1].snapshot or snapshot.time_s <= before.time_s:
        return None
    newest = total = float(snapshot.end_events.sum())
    time_s, peak = snapshot.time_s, 0.0
    for decision in reversed(recent):
        earlier = decision.snapshot
        old = float(earlier.end_events.sum())
        if time_s > earlier.time_s:
            peak = max(peak, (total - old) / (time_s - earlier.time_s))
        total, time_s = old, earlier.time_s
        if earlier is before:
            break
    mean = (newest - total) / (snapshot.time_s - before.time_s)
    return peak / mean if mean > 0 and math.isfinite(peak) else None


def _between(snapshot: Snapshot, before: Snapshot | None) -> tuple[FloatArray, bool]:
    end, committed = snapshot.end_events, snapshot.committed_events
    position = snapshot.processed_events if snapshot.lag_basis is LagBasis.PROCESSED else None
    start, written = snapshot.start_events, snapshot.end_bytes
    # No earlier snapshot: zero seconds make every rate unknown.
    seconds, old_end, old_written = 0.0, end, written
    if before is not None:
        seconds, old_end, old_written = snapshot.time_s - before.time_s, before.end_events, before.end_bytes
        there, here = before.assignment.partitions, snapshot.assignment.partitions
        if there is not here and there != here:
            old_end = _reordered(old_end, there, here)
            old_written = _reordered(old_written, there, here) if old_written is not None else None
    if written is None:
        written = old_written = _NONE
    elif old_written is None:
        old_written = floats(np.full(len(written), np.nan))
    return rates_and_lag(
        seconds,
        end,
        old_end,
        position if position is not None else committed,
        committed,
        start if start is not None else _NONE,
        written,
        old_written,
    )


def _reordered(array: FloatArray, there: tuple[Partition, ...], here: tuple[Partition, ...]) -> FloatArray:
    """The array in the order of `here`; a partition that was not there is unknown."""
    place = {partition: i for i, partition in enumerate(there)}
    return floats([array[place[p]] if p in place else np.nan for p in here])
