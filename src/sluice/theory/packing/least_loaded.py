"""Least-Loaded: the fewest consumers that keep both rate and lag within bounds, loaded evenly.

Items go, biggest rate first, to the bin with the least rate in which both rate and lag fit. The
number of bins is the smallest for which every item finds a place.
"""

from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import FloatArray
from sluice.theory.packing.base import Packing, check_capacity, own_floats, refuse
from sluice.theory.packing.few import pack_few
from sluice.theory.packing.many import pack_many

# Up to here looking at every bin is quicker, and much quicker to compile.
FEW = 64


def least_loaded(rate: Any, lag: Any, *, rate_capacity: float, lag_capacity: float, at_least: int = 1) -> Packing:
    """Pack items of (rate, lag) into the fewest bins, or the fewest from `at_least` on.

    An item over a capacity gets a bin to itself and is marked `oversize`. Equal items are taken in
    the order given, so the answer is a function of the input alone.
    """
    rate, lag = own_floats(rate), own_floats(lag)
    check_capacity("rate_capacity", rate_capacity)
    check_capacity("lag_capacity", lag_capacity)
    if rate.ndim != 1 or rate.shape != lag.shape:
        raise InputError(f"rate has shape {rate.shape} but lag {lag.shape}; give one of each an item")
    kernel = pack_few if len(rate) <= FEW else pack_many
    bins, oversize, count = kernel(rate, lag, float(rate_capacity), float(lag_capacity), at_least)
    if count < 0:
        _refuse_either(rate, lag)
    return Packing(bins, count, oversize)


def bins_needed(rate: FloatArray, lag: FloatArray, rate_capacity: float, lag_capacity: float) -> int:
    """Only the number of bins, without the checks: a few µs for what is asked every tick. -1: an item is unusable."""
    kernel = pack_few if len(rate) <= FEW else pack_many
    return kernel(rate.copy(), lag.copy(), float(rate_capacity), float(lag_capacity), 1)[2]


def _refuse_either(rate: FloatArray, lag: FloatArray) -> None:
    usable = bool(np.all((rate >= 0.0) & (rate < np.inf)))
    refuse("lag" if usable else "rate", lag if usable else rate)
