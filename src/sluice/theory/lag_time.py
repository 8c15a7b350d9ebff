"""Lag in seconds: how long ago the end of the log passed the position the consumers have reached."""

import numpy as np

from sluice.theory.arrays import FloatArray


def lag_seconds(time_s: FloatArray, end_events: FloatArray, position_events: FloatArray) -> FloatArray:
    """Age of the oldest event that waits, for each partition; 0 where none waits.

    `end_events[i, p]`: the end offset of partition p at `time_s[i]` (ascending, the last is now); `position_events[p]`
    where its consumers stand now: max(committed or processed, log start), so that what retention has deleted is no lag.
    The end is taken to grow evenly between two readings. A position older than the first reading is carried back at
    the mean rate since then; without any growth since then the time looked back is returned: it is at least that old.
    Never negative; NaN only where the position or the last end is unknown. Unknown readings in between are left out.
    """
    now_s = float(time_s[-1])
    position, end_now = position_events, end_events[-1]
    lag = np.full(position.shape, np.nan)
    known_now = np.isfinite(position) & np.isfinite(end_now)
    lag[known_now & (end_now <= position)] = 0.0
    for p in np.flatnonzero(known_now & (end_now > position)).tolist():
        seen = np.isfinite(end_events[:, p])
        times = time_s[seen]
        # A truncated log can make the end go back; passing a position counts from the last time it was passed.
        ends = np.minimum.accumulate(end_events[seen, p][::-1])[::-1]
        lag[p] = max(now_s - _passed_at(times, ends, float(position[p])), 0.0)
    return lag


def _passed_at(times: FloatArray, ends: FloatArray, position: float) -> float:
    """When the end (ascending) was at `position` for the last time."""
    after = int(np.searchsorted(ends, position, side="right"))
    if after > 0:
        before = after - 1
        share = (position - ends[before]) / (ends[after] - ends[before])
        return float(times[before] + share * (times[after] - times[before]))
    grown = ends[-1] - ends[0]
    if not grown > 0:
        return float(times[0])
    return float(times[0] - (ends[0] - position) * (times[-1] - times[0]) / grown)
