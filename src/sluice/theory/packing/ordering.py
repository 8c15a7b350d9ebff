"""Sorting items in compiled code: stable and in linear time."""

import numpy as np
from numpy.typing import NDArray

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled

# Up to here insertion sort is quicker than eight passes of counting.
SMALL = 48


@compiled
def descending(values: FloatArray, order: IntArray) -> None:
    """Sort `order` in place by `values` (all >= 0), biggest first; equals keep their order."""
    n = len(order)
    if n <= SMALL:
        for end in range(1, n):
            item = order[end]
            place = end
            while place > 0 and values[order[place - 1]] < values[item]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = item
        return
    # The bits of a float >= 0, read as an integer, are in the order of the floats.
    bits = values.view(np.uint64)
    keys = np.empty(n, np.uint64)
    for i in range(n):
        keys[i] = ~bits[order[i]]
    radix(keys, order)


@compiled
def radix(keys: NDArray[np.uint64], order: IntArray) -> None:
    """Sort `order` in place by `keys`, ascending, a byte a pass; `keys` is used up."""
    n = len(order)
    counts = np.zeros((8, 256), np.int64)
    for i in range(n):
        key = keys[i]
        for byte in range(8):
            counts[byte, (key >> np.uint64(8 * byte)) & np.uint64(255)] += 1
    other_keys = np.empty(n, np.uint64)
    other = np.empty(n, np.int64)
    here = order
    swapped = False
    for byte in range(8):
        shift = np.uint64(8 * byte)
        if n == 0 or counts[byte, (keys[0] >> shift) & np.uint64(255)] == n:
            continue  # all the same: nothing to do
        place = 0
        for digit in range(256):
            counts[byte, digit], place = place, place + counts[byte, digit]
        for i in range(n):
            value = (keys[i] >> shift) & np.uint64(255)
            target = counts[byte, value]
            counts[byte, value] = target + 1
            other_keys[target] = keys[i]
            other[target] = here[i]
        keys, other_keys = other_keys, keys
        here, other = other, here
        swapped = not swapped
    if swapped:
        for i in range(n):  # not order[:] = here, which takes the compiler seconds
            order[i] = here[i]
