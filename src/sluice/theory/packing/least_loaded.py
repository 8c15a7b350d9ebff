"""Least-Loaded: the fewest consumers that keep both rate and lag within bounds, loaded evenly.

Items go, biggest rate first, to the bin with the least rate in which both rate and lag fit. The
number of bins is the smallest for which every item finds a place.
"""

from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import BoolArray, FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.base import Packing, check_capacity, own_floats, refuse


def least_loaded(rate: Any, lag: Any, *, rate_capacity: float, lag_capacity: float, at_least: int = 1) -> Packing:
    """Pack items of (rate, lag) into the fewest bins, or the fewest from `at_least` on.

    An item over a capacity gets a bin to itself and is marked `oversize`. Equal items are taken in
    the order given, so the answer is a function of the input alone.
    """
    rate, lag = own_floats(rate), own_floats(lag)
    check_capacity("rate_capacity", rate_capacity)
    check_capacity("lag_capacity", lag_capacity)
    check_shapes(rate, lag)
    bins, oversize, count = _pack(rate, lag, rate_capacity, lag_capacity, at_least)
    if count < 0:
        refuse_either(rate, lag)
    return Packing(bins, count, oversize)


def check_shapes(rate: FloatArray, lag: FloatArray) -> None:
    if rate.ndim != 1 or rate.shape != lag.shape:
        raise InputError(f"rate has shape {rate.shape} but lag {lag.shape}; give one of each an item")


def refuse_either(rate: FloatArray, lag: FloatArray) -> None:
    usable = bool(np.all((rate >= 0.0) & (rate < np.inf)))
    refuse("lag" if usable else "rate", lag if usable else rate)


@compiled
def _pack(
    rate: FloatArray, lag: FloatArray, rate_capacity: float, lag_capacity: float, at_least: int
) -> tuple[IntArray, BoolArray, int]:
    n = len(rate)
    bins = np.full(n, -1, np.int64)
    oversize = np.zeros(n, np.bool_)
    total_rate, total_lag, regular = 0.0, 0.0, 0
    for i in range(n):
        if not (0.0 <= rate[i] < np.inf and 0.0 <= lag[i] < np.inf):
            return bins, oversize, -1
        if rate[i] > rate_capacity or lag[i] > lag_capacity:
            oversize[i] = True
        else:
            regular += 1
            total_rate += rate[i]
            total_lag += lag[i]
    count = 0
    if regular > 0:
        order = by_rate_then_lag(rate, lag, oversize, regular)
        # A hair below the exact bound: its sums are rounded in another order than those of the bins.
        bound = max(total_rate / rate_capacity, total_lag / lag_capacity) * (1.0 - 1e-9)
        count = max(int(np.ceil(bound)), at_least - (n - regular), 1)
        while not _fill(rate, lag, rate_capacity, lag_capacity, order, count, bins):
            count += 1
    for i in range(n):
        if oversize[i]:
            bins[i] = count
            count += 1
    return bins, oversize, count


@compiled
def bins_needed(rate: FloatArray, lag: FloatArray, rate_capacity: float, lag_capacity: float) -> int:
    """Only the number of bins, without the checks: a few µs for what is asked every tick. -1: an item is unusable."""
    return _pack(rate, lag, rate_capacity, lag_capacity, 1)[2]


@compiled
def by_rate_then_lag(rate: FloatArray, lag: FloatArray, skip: BoolArray, count: int) -> IntArray:
    """Positions of the items not skipped: rate descending, then lag descending, then position."""
    order = np.empty(count, np.int64)
    position = 0
    for i in range(len(rate)):
        if not skip[i]:
            order[position] = i
            position += 1
    order = order[np.argsort(-lag[order], kind="mergesort")]
    return order[np.argsort(-rate[order], kind="mergesort")]


@compiled
def _fill(
    rate: FloatArray,
    lag: FloatArray,
    rate_capacity: float,
    lag_capacity: float,
    order: IntArray,
    count: int,
    bins: IntArray,
) -> bool:
    rates = np.zeros(count)
    lags = np.zeros(count)
    for i in order:
        best = -1
        for b in range(count):
            if rates[b] + rate[i] > rate_capacity or lags[b] + lag[i] > lag_capacity:
                continue
            if best < 0 or rates[b] < rates[best] or (rates[b] == rates[best] and lags[b] < lags[best]):
                best = b
        if best < 0:
            return False
        rates[best] += rate[i]
        lags[best] += lag[i]
        bins[i] = best
    return True
