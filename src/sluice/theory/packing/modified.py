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
from sluice.theory.packing.any_fit import BEST, WORST, choose, highest_owner, number_for, refuse_item
from sluice.theory.packing.base import Packer, check_capacity, check_owner, own_floats, own_ints


def modified_fit(size: Any, owner: Any, capacity: float, *, fit: int, by_largest: bool) -> IntArray:
    """The new owner of each item; consumers are visited by their load, or by their largest item."""
    size, owner = own_floats(size), own_ints(owner)
    check_capacity("capacity", capacity)
    check_owner(size, owner)
    packed, usable = _modified_fit(size, owner, capacity, fit, by_largest)
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
    order = np.argsort(-size, kind="mergesort")
    start = np.zeros(highest + 2, np.int64)
    key = np.zeros(highest + 1)
    for i in order:
        c = owner[i]
        if c >= 0:
            start[c + 1] += 1
            key[c] = max(key[c], size[i]) if by_largest else key[c] + size[i]
    start = np.cumsum(start)
    held = np.empty(start[-1], np.int64)  # the items of each consumer, biggest first
    end = start.copy()
    for i in order:
        c = owner[i]
        if c >= 0:
            held[end[c]] = i
            end[c] += 1

    load = np.empty(n)
    consumer = np.empty(n, np.int64)
    is_open = np.zeros(highest + n + 2, np.bool_)
    count = 0
    for c in np.argsort(-key, kind="mergesort"):
        first, last = start[c], end[c]
        while last > first:
            i = held[last - 1]
            b = choose(load, count, size[i], capacity, fit)
            if b < 0:
                break
            load[b] += size[i]
            packed[i] = consumer[b]
            last -= 1
        if last > first:
            b = count
            count += 1
            consumer[b] = number_for(c, is_open)
            load[b] = 0.0
            for position in range(first, last):
                i = held[position]
                if position > first and load[b] + size[i] > capacity:
                    break
                load[b] += size[i]
                packed[i] = c
    for i in order:
        if packed[i] < 0:
            b = choose(load, count, size[i], capacity, fit)
            if b < 0:
                b = count
                count += 1
                consumer[b] = number_for(owner[i], is_open)
                load[b] = 0.0
            load[b] += size[i]
            packed[i] = consumer[b]
    return packed, True
