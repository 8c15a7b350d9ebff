"""Least-Loaded for few items: every bin is looked at for every item."""

import numpy as np

from sluice.theory.arrays import BoolArray, FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.bounds import SLACK


@compiled
def pack_few(
    rate: FloatArray, lag: FloatArray, rate_capacity: float, lag_capacity: float, at_least: int
) -> tuple[IntArray, BoolArray, int]:
    """Bin of each item, oversize or not, count of bins (-1 if an item cannot be used)."""
    n = len(rate)
    bins = np.empty(n, np.int64)
    oversize = np.zeros(n, np.bool_)
    order = np.empty(n, np.int64)
    packed = 0
    total_rate = total_lag = 0.0
    for i in range(n):
        if not (0.0 <= rate[i] < np.inf and 0.0 <= lag[i] < np.inf):
            return bins, oversize, -1
        if rate[i] > rate_capacity or lag[i] > lag_capacity:
            oversize[i] = True
        else:
            place = packed
            while place > 0 and (
                rate[order[place - 1]] < rate[i]
                or (rate[order[place - 1]] == rate[i] and lag[order[place - 1]] < lag[i])
            ):
                order[place] = order[place - 1]
                place -= 1
            order[place] = i
            packed += 1
            total_rate += rate[i]
            total_lag += lag[i]
    bound = max(total_rate / rate_capacity, total_lag / lag_capacity) * (1.0 - SLACK)
    count = max(int(np.ceil(bound)), at_least - (n - packed), 1) if packed > 0 else 0
    rates, lags = np.empty(max(count, n)), np.empty(max(count, n))
    missing = packed > 0
    while missing:
        missing = False
        for b in range(count):
            rates[b] = lags[b] = 0.0
        for position in range(packed):
            i = order[position]
            best = -1
            for b in range(count):
                if (
                    rates[b] + rate[i] <= rate_capacity
                    and lags[b] + lag[i] <= lag_capacity
                    and (best < 0 or rates[b] < rates[best] or (rates[b] == rates[best] and lags[b] < lags[best]))
                ):
                    best = b
            if best < 0:
                missing = True
                count += 1
                break
            bins[i] = best
            rates[best] += rate[i]
            lags[best] += lag[i]
    for i in range(n):
        if oversize[i]:
            bins[i] = count
            count += 1
    return bins, oversize, count
