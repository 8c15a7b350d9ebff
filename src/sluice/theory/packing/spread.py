"""Even load over a given number of bins, capacities set aside."""

from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import IntArray
from sluice.theory.packing.least_loaded import least_loaded


def spread(rate: Any, lag: Any, count: int) -> IntArray:
    """The bin of each item: biggest rate first, each to the bin with the least rate (ties: least lag, lowest number).

    Items without any load are dealt out last, to the bins with the fewest items, so that no bin stays
    empty while there are enough items.
    """
    if count < 1:
        raise InputError(f"count = {count} leaves no bin to spread over; give at least 1")
    bins = least_loaded(rate, lag, rate_capacity=np.inf, lag_capacity=np.inf, at_least=count).bins
    idle = (np.asarray(rate) == 0.0) & (np.asarray(lag) == 0.0)
    if idle.any():
        bins[idle] = _fewest_items(np.bincount(bins[~idle], minlength=count), int(idle.sum()))
    return bins


def _fewest_items(items: IntArray, idle: int) -> IntArray:
    """The bins that take one more item each, `idle` times: always one with the fewest items, ties by number."""
    # Filling to level L takes (L - items) from each bin below it: list every such free place by (level, bin).
    low, high = int(items.min()), int(items.min()) + idle
    while low < high:  # the lowest level with enough free places below it
        middle = (low + high) // 2
        if int(np.maximum(middle - items, 0).sum()) >= idle:
            high = middle
        else:
            low = middle + 1
    places = np.maximum(low - items, 0)
    bins = np.repeat(np.arange(len(items)), places)
    starts = np.repeat(np.cumsum(places) - places, places)
    level = items[bins] + np.arange(len(bins)) - starts
    return bins[np.lexsort((bins, level))][:idle]
