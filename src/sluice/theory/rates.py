"""Counters read at two instants to rates and lag: the array work of one observation, compiled.

A counter that went backwards was reset: what happened in between is unknown (NaN), never negative.
"""

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled


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
) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
    """Per partition the rate of arrival, the lag and the rate of bytes; and whether a rate is unknown.

    `start` (log-start offsets) and `written` (bytes) may be empty: then nothing is known of them.
    """
    n = len(end)
    rate = np.empty(n)
    lag = np.empty(n)
    bytes_rate = np.empty(len(written))
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
    return rate, lag, bytes_rate, unknown


@compiled
def strength(
    processed: FloatArray,
    emitted: FloatArray,
    busy: FloatArray,
    busy2: FloatArray,
    latency: FloatArray,
    gap: FloatArray,
    gap2: FloatArray,
    processed_before: FloatArray,
    emitted_before: FloatArray,
    busy_before: FloatArray,
    busy2_before: FloatArray,
    gap_before: FloatArray,
    gap2_before: FloatArray,
    before: IntArray,
    processed_last: FloatArray,
    latency_last: FloatArray,
    rate_last: FloatArray,
    last: IntArray,
) -> FloatArray:
    """Events/s of each busy consumer, then of all together, cv of service and of arrivals, selectivity, mean latency.

    `before[c]` is the consumer's place in the earlier reading, `last[c]` in the last one; -1: it was not
    there yet and counts from zero. A consumer that did nothing keeps `rate_last`. NaN where nothing is
    known. All in one array: numbers of different kinds cost more to hand over than to compute.
    """
    k = len(processed)
    out = np.full(k + 5, np.nan)
    events, emits, work, work2 = 0.0, 0.0, 0.0, 0.0
    arrivals, arrivals_cv2 = 0.0, 0.0
    seen, waited = 0.0, 0.0
    for c in range(k):
        b = before[c]
        n = processed[c] - (processed_before[b] if b >= 0 else 0.0)
        s = busy[c] - (busy_before[b] if b >= 0 else 0.0)
        s2 = busy2[c] - (busy2_before[b] if b >= 0 else 0.0)
        p = last[c]
        if n > 0.0 and s > 0.0 and s2 >= 0.0:
            out[c] = n / s
            events += n
            work += s
            work2 += s2
            written = emitted[c] - (emitted_before[b] if b >= 0 else 0.0)
            emits += written if written >= 0.0 else np.nan
            g = gap[c] - (gap_before[b] if b >= 0 else 0.0)
            g2 = gap2[c] - (gap2_before[b] if b >= 0 else 0.0)
            if g > 0.0 and g2 >= 0.0:
                # Each consumer has its own stream: pooling the moments of unequal streams would look bursty.
                arrivals += n
                arrivals_cv2 += n * max(n * g2 / (g * g) - 1.0, 0.0)
        elif p >= 0 and len(rate_last) > 0:
            out[c] = rate_last[p]  # silent, idle or restarted
        if len(processed_last) > 0:
            n = processed[c] - (processed_last[p] if p >= 0 else 0.0)
            s = latency[c] - (latency_last[p] if p >= 0 else 0.0)
            if n > 0.0 and s >= 0.0:
                seen += n
                waited += s
    if events > 0.0:
        out[k] = events / work
        out[k + 1] = np.sqrt(max(events * work2 / (work * work) - 1.0, 0.0))
        out[k + 3] = emits / events
    if arrivals > 0.0:
        out[k + 2] = np.sqrt(arrivals_cv2 / arrivals)
    if seen > 0.0:
        out[k + 4] = waited / seen
    return out
