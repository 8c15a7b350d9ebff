"""Modified worst and best fit: big partitions stay where they are, small ones move.

Consumers are visited from big to small. A consumer's partitions, smallest first, are offered to the
bins already open; from the first that does not fit the rest stays: the consumer itself is opened and
takes its rest back, biggest first, while it fits. What is left is packed at the end, biggest first.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.any_fit import highest_owner, refuse_item
from sluice.theory.packing.base import Packer, check_capacity, check_owner, own_floats, own_ints
from sluice.theory.packing.open_bins import BEST, WORST, no_bins, offer, open_for
from sluice.theory.packing.ordering import descending
from sluice.theory.packing.shelf import empty_shelf


def modified_fit(size: Any, owner: Any, capacity: float, *, fit: int, by_largest: bool) -> IntArray:
    """The new owner of each item; consumers are visited by their load, or by their largest item."""
    size, owner = own_floats(size), own_ints(owner)
    check_capacity("capacity", capacity)
    check_owner(size, owner)
    packed, usable = _modified_fit(size, owner, float(capacity), fit, by_largest)
    if not usable:
        refuse_item(size, owner)
    return packed


MODIFIED: Mapping[str, Packer] = {
    name + suffix: partial(modified_fit, fit=fit, by_largest=bool(suffix))
    for suffix in ("", "p")
    for name, fit in (("mwf", WORST), ("mbf", BEST))
}


@compiled
def _modified_fit(
    size: FloatArray, owner: IntArray, capacity: float, fit: int, by_largest: bool
) -> tuple[IntArray, bool]:
    n = len(size)
    packed = np.full(n, -1, np.int64)
    highest = highest_owner(size, owner)
    if highest < -1:
        return packed, False
    order = np.arange(n)
    descending(size, order)
    key = np.zeros(highest + 1)
    begin = np.zeros(highest + 2, np.int64)
    for i in order:
        if owner[i] >= 0:
            begin[owner[i] + 1] += 1
            key[owner[i]] = max(key[owner[i]], size[i]) if by_largest else key[owner[i]] + size[i]
    for c in range(highest + 1):
        begin[c + 1] += begin[c]
    held = np.empty(n, np.int64)  # the items of each consumer, biggest first
    end = begin.copy()
    for i in order:
        if owner[i] >= 0:
            held[end[owner[i]]] = i
            end[owner[i]] += 1

    bins, taken, tree = no_bins(fit, n, highest)
    cell, edge, index = empty_shelf(0, n)
    visits: IntArray = np.arange(highest + 1)
    descending(key, visits)
    for visited in visits:
        mine = held[begin[visited] : end[visited]]
        last = len(mine)  # from here on all found room elsewhere
        while last > 0:
            # Smallest first. The first that fits nowhere ends it; equal ones go in their own order.
            first = last - 1
            while first > 0 and size[mine[first - 1]] == size[mine[first]]:
                first -= 1
            for i in mine[first:last]:
                packed[i] = offer(fit, size[i], capacity, bins, taken, tree, cell, edge, index)
                if packed[i] < 0:
                    break
            if packed[mine[last - 1]] < 0:
                break
            last = first
        if last > 0:
            load = _take_back(mine, size, capacity, visited, packed)
            open_for(fit, visited, load, bins, taken, tree, cell, edge, index)
    for i in order:
        if packed[i] < 0:  # neither moved nor taken back, or without an owner
            packed[i] = offer(fit, size[i], capacity, bins, taken, tree, cell, edge, index)
            if packed[i] < 0:
                packed[i] = open_for(fit, owner[i], size[i], bins, taken, tree, cell, edge, index)
    return packed, True


@compiled
def _take_back(mine: IntArray, size: FloatArray, capacity: float, consumer: int, packed: IntArray) -> float:
    """Leave with the consumer what did not move, biggest first while it fits; the load."""
    load = 0.0
    kept = 0
    for i in mine:
        if packed[i] < 0:
            if kept > 0 and load + size[i] > capacity:
                break
            load += size[i]
            packed[i] = consumer
            kept += 1
    return load
