"""Even load over a given number of bins, capacities set aside."""

from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.base import own_floats
from sluice.theory.packing.least_loaded import by_rate_then_lag, check_shapes, refuse_either


def spread(rate: Any, lag: Any, count: int) -> IntArray:
    """The bin of each item: biggest rate first, each to the bin with the least rate.

    Ties go to the least lag, then to the fewest items, then to the lowest number: idle partitions are
    dealt out too, and no bin stays empty while there are enough items.
    """
    rate, lag = own_floats(rate), own_floats(lag)
    check_shapes(rate, lag)
    if count < 1 and len(rate):
        raise InputError(f"count = {count} leaves no bin to spread over; give at least 1")
    bins, usable = _spread(rate, lag, count)
    if not usable:
        refuse_either(rate, lag)
    return bins


@compiled
def _spread(rate: FloatArray, lag: FloatArray, count: int) -> tuple[IntArray, bool]:
    n = len(rate)
    bins = np.empty(n, np.int64)
    for i in range(n):
        if not (0.0 <= rate[i] < np.inf and 0.0 <= lag[i] < np.inf):
            return bins, False
    rates = np.zeros(count)
    lags = np.zeros(count)
    items = np.zeros(count, np.int64)
    for i in by_rate_then_lag(rate, lag, np.zeros(n, np.bool_), n):
        best = 0
        for b in range(1, count):
            if (rates[b], lags[b], items[b]) < (rates[best], lags[best], items[best]):
                best = b
        rates[best] += rate[i]
        lags[best] += lag[i]
        items[best] += 1
        bins[i] = best
    return bins, True
