"""Least-Loaded for many items: the fewest bins by attempts, each in near-linear time."""

import numpy as np

from sluice.theory.arrays import BoolArray, FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.bounds import bound_in_order
from sluice.theory.packing.filling import fill
from sluice.theory.packing.ordering import descending
from sluice.theory.packing.shelf import empty_shelf

# Up to here every number of bins is tried in turn. With more items the steps double until one succeeds
# and are then halved: in two dimensions a smaller number that also works could be passed over.
ONE_BY_ONE = 1000
# So many attempts suffice where rate and lag go together. Where they do not, more bins often fail where fewer
# did not, and the last thousandth is not worth its attempts.
ATTEMPTS = 12


@compiled
def pack_many(
    rate: FloatArray, lag: FloatArray, rate_capacity: float, lag_capacity: float, at_least: int
) -> tuple[IntArray, BoolArray, int]:
    """As `few.pack_few`, for any number of items."""
    n = len(rate)
    bins = np.full(n, -1, np.int64)
    oversize = np.zeros(n, np.bool_)
    order = np.empty(n, np.int64)
    loaded = 0
    for i in range(n):
        if not (0.0 <= rate[i] < np.inf and 0.0 <= lag[i] < np.inf):
            return bins, oversize, -1
        rate[i] += 0.0  # -0.0 becomes 0.0: sorting looks at the bits
        lag[i] += 0.0
        if rate[i] > rate_capacity or lag[i] > lag_capacity:
            oversize[i] = True
        elif rate[i] > 0.0 or lag[i] > 0.0:
            order[loaded] = i
            loaded += 1
    order = order[:loaded]
    # By lag first, then by rate: sorting keeps the order of equals.
    descending(lag, order)
    count = bound_in_order(lag, order, lag_capacity)
    descending(rate, order)
    alone = int(oversize.sum())
    count = max(count, bound_in_order(rate, order, rate_capacity), at_least - alone) if alone < n else 0
    count = _fewest(rate, lag, rate_capacity, lag_capacity, order, count, bins)
    return bins, oversize, _place_rest(rate, lag, order, oversize, count, bins)


@compiled
def _fewest(
    rate: FloatArray,
    lag: FloatArray,
    rate_capacity: float,
    lag_capacity: float,
    order: IntArray,
    count: int,
    bins: IntArray,
) -> int:
    """Put the items of `order` into the fewest bins, from `count` on, in which every item finds a place."""
    n = len(order)
    # Copies in order, and room to work in that all attempts share: memory is touched once, from front to back.
    ordered_rate, ordered_lag, least_lag = np.empty(n), np.empty(n), np.empty(n)
    least = np.inf
    for p in range(n - 1, -1, -1):
        ordered_rate[p], ordered_lag[p] = rate[order[p]], lag[order[p]]
        least = min(least, ordered_lag[p])
        least_lag[p] = least
    most = max(count, n)
    row, waiting = np.empty((most, 3)), np.empty((most, 3))
    cell, edge, index = empty_shelf(most, n)
    kept, tried = np.empty(n, np.int64), np.empty(n, np.int64)

    failed = count - 1  # no packing exists, or none was found
    found = attempts = 0
    step = 1 if n <= ONE_BY_ONE else max(1, count // 256)
    while n > 0 and (found == 0 or found - failed > (1 if attempts < ATTEMPTS else 1 + found // 1000)):
        attempts += 1
        if fill(
            ordered_rate,
            ordered_lag,
            least_lag,
            rate_capacity,
            lag_capacity,
            row[:count],
            waiting,
            cell,
            edge,
            index,
            tried,
        ):
            found = count
            kept, tried = tried, kept
        else:
            failed = count
        if found > 0:
            count = (found + failed) // 2
        else:
            count = min(count + step, n)
            step = step if n <= ONE_BY_ONE else 2 * step
    for p in range(n):
        bins[order[p]] = kept[p]
    return found if n > 0 else count


@compiled
def _place_rest(
    rate: FloatArray, lag: FloatArray, order: IntArray, oversize: BoolArray, count: int, bins: IntArray
) -> int:
    """Items without any load all go to the bin least loaded in the end; oversize ones get a bin each."""
    n = len(rate)
    rates, lags = np.zeros(count), np.zeros(count)
    for i in order:
        rates[bins[i]] += rate[i]
        lags[bins[i]] += lag[i]
    least = 0
    for b in range(1, count):
        if rates[b] < rates[least] or (rates[b] == rates[least] and lags[b] < lags[least]):
            least = b
    for i in range(n):
        if bins[i] < 0 and not oversize[i]:
            bins[i] = least
    for i in range(n):
        if oversize[i]:
            bins[i] = count
            count += 1
    return count
