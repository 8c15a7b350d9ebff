"""Counters read at two instants to rates and lag: the array work of one observation, compiled.

A counter that went backwards was reset: what happened in between is unknown (NaN), never negative.
"""

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled, inlined

# Rows of a table of a group's counters, with a column for each consumer.
PROCESSED, EMITTED, BUSY, BUSY2, LATENCY, GAP, GAP2 = range(7)


@compiled
def rates_and_lag(
    seconds: float,
    end: FloatArray,
    end_before: FloatArray,
    position: FloatArray,
    committed: FloatArray,
    start: FloatArray,
    written: FloatArray,
    written_before: FloatArray,
) -> tuple[FloatArray, bool]:
    """Rows: per partition the rate of arrival, the lag and the rate of bytes; and whether a rate is unknown.

    `start` (log-start offsets) and `written` (bytes) may be empty: then nothing is known of them. One table, as each
    array costs more to hand over than to compute.
    """
    n = len(end)
    table = np.full((3, n), np.nan)
    rate, lag, bytes_rate = table[0], table[1], table[2]
    unknown = False
    for i in range(n):
        grown = end[i] - end_before[i]
        rate[i] = grown / seconds if grown >= 0.0 and seconds > 0.0 else np.nan
        unknown = unknown or np.isnan(rate[i])
        done = committed[i] if np.isnan(position[i]) else position[i]
        # What retention has deleted can no longer be read, and an empty partition has no lag.
        if len(start) > 0 and (done < start[i] or (np.isnan(done) and end[i] <= start[i])):
            done = start[i]
        lag[i] = np.nan if np.isnan(done) or np.isnan(end[i]) else max(end[i] - done, 0.0)
    for i in range(len(written)):
        grown = written[i] - written_before[i]
        bytes_rate[i] = grown / seconds if grown >= 0.0 and seconds > 0.0 else np.nan
        unknown = unknown or np.isnan(bytes_rate[i])
    return table, unknown


@inlined
def _grown(then: FloatArray, place: int, now: FloatArray, c: int, row: int) -> float:
    return float(now[row, c] - (then[row, place] if place >= 0 else 0.0))


@compiled
def strength(
    now: FloatArray,
    earlier: FloatArray,
    before: IntArray,
    newest: FloatArray,
    rate_last: FloatArray,
    last: IntArray,
) -> FloatArray:
    """Events/s of each busy consumer, then of all together, cv of service and of arrivals, selectivity, mean latency.

    `before[c]` is the consumer's column in the earlier reading, `last[c]` in the newest one before now; -1: it was not
    there yet and counts from zero. A consumer that did nothing keeps `rate_last`. NaN where nothing is known. All in
    one array: numbers of different kinds cost more to hand over than to compute.
    """
    k = now.shape[1]
    out = np.full(k + 5, np.nan)
    events, emits, work, work2 = 0.0, 0.0, 0.0, 0.0
    arrivals, arrivals_cv2 = 0.0, 0.0
    seen, waited = 0.0, 0.0
    for c in range(k):
        b = before[c]
        n = _grown(earlier, b, now, c, PROCESSED)
        s = _grown(earlier, b, now, c, BUSY)
        s2 = _grown(earlier, b, now, c, BUSY2)
        p = last[c]
        if n > 0.0 and s > 0.0 and s2 >= 0.0:
            out[c] = n / s
            events += n
            work += s
            work2 += s2
            written = _grown(earlier, b, now, c, EMITTED)
            emits += written if written >= 0.0 else np.nan
            g = _grown(earlier, b, now, c, GAP)
            g2 = _grown(earlier, b, now, c, GAP2)
            if g > 0.0 and g2 >= 0.0:
                # Each consumer has its own stream: pooling the moments of unequal streams would look bursty.
                arrivals += n
                arrivals_cv2 += n * max((n / g) * (g2 / g) - 1.0, 0.0)
        elif p >= 0 and len(rate_last) > 0:
            out[c] = rate_last[p]  # silent, idle or restarted
        if newest.shape[1] > 0:
            n = _grown(newest, p, now, c, PROCESSED)
            s = _grown(newest, p, now, c, LATENCY)
            if n > 0.0 and s >= 0.0:
                seen += n
                waited += s
    if events > 0.0:
        out[k] = events / work
        out[k + 1] = np.sqrt(max((events / work) * (work2 / work) - 1.0, 0.0))
        out[k + 3] = emits / events
    if arrivals > 0.0:
        out[k + 2] = np.sqrt(arrivals_cv2 / arrivals)
    if seen > 0.0:
        out[k + 4] = waited / seen
    return out
