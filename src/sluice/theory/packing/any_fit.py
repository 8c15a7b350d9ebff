"""Next, first, best and worst fit, plain and decreasing, with a memory of who owned what.

Opening a bin for an item reopens the consumer that owned it, if that one is not open yet; otherwise
the lowest free number is taken. This changes no bin count, only which consumer it is.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.base import Packer, check_capacity, check_owner, own_floats, own_ints, refuse
from sluice.theory.packing.open_bins import BEST, FIRST, NEXT, WORST, no_bins, offer, open_for
from sluice.theory.packing.ordering import descending
from sluice.theory.packing.shelf import empty_shelf

# Memory is set aside for every number up to the highest one used.
HIGHEST = 10_000_000


def any_fit(size: Any, owner: Any, capacity: float, *, fit: int, decreasing: bool) -> IntArray:
    """The new owner of each item; items are taken in the order given, or biggest first."""
    size, owner = own_floats(size), own_ints(owner)
    check_capacity("capacity", capacity)
    check_owner(size, owner)
    packed, usable = _any_fit(size, owner, float(capacity), fit, decreasing)
    if not usable:
        refuse_item(size, owner)
    return packed


ANY_FIT: Mapping[str, Packer] = {
    name + suffix: partial(any_fit, fit=fit, decreasing=bool(suffix))
    for suffix in ("", "d")
    for name, fit in (("nf", NEXT), ("ff", FIRST), ("bf", BEST), ("wf", WORST))
}


def refuse_item(size: FloatArray, owner: IntArray) -> None:
    strange = np.flatnonzero((owner < -1) | (owner > HIGHEST))
    if len(strange):
        raise InputError(
            f"owner[{strange[0]}] = {owner[strange[0]]}; owners are numbered from 0, and -1 is for an item nobody owns"
        )
    refuse("size", size)


@compiled
def _any_fit(size: FloatArray, owner: IntArray, capacity: float, fit: int, decreasing: bool) -> tuple[IntArray, bool]:
    n = len(size)
    packed = np.full(n, -1, np.int64)
    highest = highest_owner(size, owner)
    if highest < -1:
        return packed, False
    order = np.arange(n)
    if decreasing:
        descending(size, order)
    bins, taken, tree = no_bins(fit, n, highest)
    cell, edge, index = empty_shelf(0, n if fit in (BEST, WORST) else 0)
    for i in order:
        packed[i] = offer(fit, size[i], capacity, bins, taken, tree, cell, edge, index)
        if packed[i] < 0:
            packed[i] = open_for(fit, owner[i], size[i], bins, taken, tree, cell, edge, index)
    return packed, True


@compiled
def highest_owner(size: FloatArray, owner: IntArray) -> int:
    """The highest owner's number; -2 if an item cannot be used."""
    highest = -1
    for i in range(len(size)):
        if not 0.0 <= size[i] < np.inf or not -1 <= owner[i] <= HIGHEST:
            return -2
        size[i] += 0.0  # -0.0 becomes 0.0: sorting looks at the bits
        highest = max(highest, owner[i])
    return highest
