"""Fewest bins that any packing needs."""

from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.base import check_capacity, own_floats, refuse
from sluice.theory.packing.ordering import descending

# Bounds sum in another order than packers do: a hair of slack keeps rounding from lifting them over the truth.
SLACK = 1e-9


def lower_bound(size: Any, capacity: Any) -> int:
    """A number of bins below which no packing exists; `size` is (n,) or (n, d), `capacity` a number or d numbers.

    The best of three bounds in each dimension: total size (L1), Martello and Toth's L2, and how many
    items fit together. An item over a capacity takes a bin to itself.
    """
    sizes = own_floats(size)
    sizes = sizes[:, None] if sizes.ndim == 1 else sizes
    capacities = np.broadcast_to(own_floats(capacity), sizes.shape[1:2])
    if sizes.ndim != 2:
        raise InputError(f"size has shape {sizes.shape}; give one row an item")
    for number in capacities.tolist():
        check_capacity("capacity", number)
    if not bool(np.all((sizes >= 0.0) & (sizes < np.inf))):
        refuse("size", sizes.ravel())
    alone = np.any(sizes > capacities, axis=1)
    rest = sizes[~alone]
    if not len(rest):
        return int(alone.sum())
    best = max(bound(rest[:, d].copy(), capacity) for d, capacity in enumerate(capacities.tolist()))
    return int(alone.sum()) + best


@compiled
def bound(size: FloatArray, capacity: float) -> int:
    """The best bound of one dimension, no item over the capacity."""
    order = np.arange(len(size))
    descending(size, order)
    return bound_in_order(size, order, capacity)


@compiled
def bound_in_order(size: FloatArray, order: IntArray, capacity: float) -> int:
    """The best bound for the items of `order`, sorted biggest first, none over the capacity."""
    n = len(order)
    roomy = capacity * (1.0 + SLACK)
    total = 0.0
    best = 1
    # How many fit together: of the j biggest at most `together` share a bin.
    tail = 0
    held = 0.0
    for j in range(n):
        total += size[order[j]]
        held += size[order[j]]
        while held > roomy:
            held -= size[order[tail]]
            tail += 1
        together = j + 1 - tail
        best = max(best, (j + together) // together)
    best = max(best, int(np.ceil(total / roomy)))
    return max(best, _martello_toth(size, order, roomy))


@compiled
def _martello_toth(size: FloatArray, order: IntArray, capacity: float) -> int:
    """L2: for each threshold, the big items' bins plus what the middle ones leave no room for.

    Items over half a bin sit in bins of their own. Those over capacity - threshold take no item of at
    least the threshold; what of the items from the threshold to a half does not fit beside the other
    big ones needs further bins.
    """
    n = len(order)
    big = 0
    while big < n and size[order[big]] > capacity / 2.0:
        big += 1
    closed = big  # of the big ones, those too full for any item of at least the threshold
    room = 0.0  # beside the other big ones
    middle = 0.0
    best = big
    for i in range(big, n):
        threshold = size[order[i]]
        middle += threshold
        while closed > 0 and size[order[closed - 1]] <= capacity - threshold:
            closed -= 1
            room += capacity - size[order[closed]]
        best = max(best, big + int(np.ceil((middle - room) / capacity - SLACK * n)))
    return best
