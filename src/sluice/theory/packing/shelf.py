"""Bins kept in order of their load, in compiled code.

A shelf is a sorted list cut into blocks of at most WIDTH bins: finding, taking out and putting in touch one
block. A block holds the keys from its head up to the next one's; a full block is split, an empty one stays.
Each block, and each group of blocks, knows a load below which no `side` in it lies, so that crowds of bins
whose second dimension is full are passed over at a glance; a search in vain makes that load exact.

The shelf is three arrays, handed over one by one, as packing them together would cost more than the work:
`cell[row, place]` is a bin, `edge[block]` its head and least sides, `index[block]` its row and how many it holds.
Functions are few and flat, as the compiler works through a callee again in each of its callers.
"""

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled, inlined

WIDTH = 64
GROUP = 32
# Fields of a bin in the order in which bins are compared, and of a head. A number as a float is exact up to 2**53.
LOAD, SIDE, NUMBER = 0, 1, 2
# Further fields of `edge`; the group's is kept where its own number is, not its blocks'.
LEAST, LEAST_OF_GROUP = 3, 4
# Fields of `index`; the last line's first field is the number of blocks.
ROW, HELD = 0, 1


@compiled
def empty_shelf(bins: int, changes: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Room for `bins` bins laid out at first and for `changes` bins put in later."""
    # A block is half full when it is made, and is split after as many more came in.
    blocks = 2 * (bins + changes) // WIDTH + 2
    return np.empty((blocks, WIDTH, 3)), np.zeros((blocks, 5)), np.zeros((blocks + 1, 2), np.int64)


@inlined
def clear_shelf(edge: FloatArray, index: IntArray) -> None:
    """Take everything out."""
    index[-1, 0] = 0
    for group in range(len(edge)):
        edge[group, LEAST_OF_GROUP] = 0.0


@inlined
def lay(cell: FloatArray, edge: FloatArray, index: IntArray, load: float, side: float, number: float) -> None:
    """Put a bin at the end; the caller lays bins in ascending order."""
    block = index[-1, 0] - 1
    if block < 0 or index[block, HELD] >= WIDTH // 2:
        block += 1
        index[-1, 0] = block + 1
        index[block, ROW], index[block, HELD] = block, 0
        edge[block, LOAD], edge[block, SIDE], edge[block, NUMBER], edge[block, LEAST] = load, side, number, side
    place = index[block, HELD]
    cell[block, place, LOAD], cell[block, place, SIDE], cell[block, place, NUMBER] = load, side, number
    index[block, HELD] = place + 1
    edge[block, LEAST] = min(edge[block, LEAST], side)


@inlined
def first_that_takes(
    cell: FloatArray, edge: FloatArray, index: IntArray, side: float, side_capacity: float
) -> tuple[int, int]:
    """Block and place of the least loaded bin whose second dimension has room for `side`; (-1, -1) if none."""
    blocks = index[-1, 0]
    for group in range((blocks + GROUP - 1) // GROUP):
        if edge[group, LEAST_OF_GROUP] + side > side_capacity:
            continue
        least_of_group = np.inf
        for block in range(group * GROUP, min(group * GROUP + GROUP, blocks)):
            if edge[block, LEAST] + side <= side_capacity:
                row = index[block, ROW]
                least = np.inf
                for place in range(index[block, HELD]):
                    if cell[row, place, SIDE] + side <= side_capacity:
                        return block, place
                    least = min(least, cell[row, place, SIDE])
                edge[block, LEAST] = least
            least_of_group = min(least_of_group, edge[block, LEAST])
        edge[group, LEAST_OF_GROUP] = least_of_group
    return -1, -1


@inlined
def last_that_takes(
    cell: FloatArray, edge: FloatArray, index: IntArray, load: float, capacity: float
) -> tuple[int, int]:
    """Block and place of the most loaded bin that has room for `load`; (-1, -1) if none."""
    low, high = min(index[-1, 0], 1), index[-1, 0]  # the first block also holds what comes before its head
    while low < high:
        middle = (low + high) // 2
        if edge[middle, LOAD] + load <= capacity:
            low = middle + 1
        else:
            high = middle
    for block in range(low - 1, -1, -1):
        row = index[block, ROW]
        place = index[block, HELD] - 1
        while place >= 0 and cell[row, place, LOAD] + load > capacity:
            place -= 1
        if place >= 0:
            return block, place
    return -1, -1


@inlined
def take(cell: FloatArray, index: IntArray, block: int, place: int) -> None:
    """Take out the bin at `place` of `block`."""
    row = index[block, ROW]
    index[block, HELD] -= 1
    for i in range(place, index[block, HELD]):
        for field in range(3):
            cell[row, i, field] = cell[row, i + 1, field]


@inlined
def put(cell: FloatArray, edge: FloatArray, index: IntArray, load: float, side: float, number: float) -> None:
    """Put a bin where it belongs."""
    low, high = 1, index[-1, 0]  # the last block whose head does not come after the bin, else the first
    while low < high:
        middle = (low + high) // 2
        if before(edge, middle, load, side, number):
            low = middle + 1
        else:
            high = middle
    block = low - 1
    if index[block, HELD] == WIDTH:
        _split(cell, edge, index, block)
        if before(edge, block + 1, load, side, number):
            block += 1
    bins = cell[index[block, ROW]]
    place = index[block, HELD]
    while place > 0 and not before(bins, place - 1, load, side, number):
        for field in range(3):
            bins[place, field] = bins[place - 1, field]
        place -= 1
    bins[place, LOAD], bins[place, SIDE], bins[place, NUMBER] = load, side, number
    index[block, HELD] += 1
    edge[block, LEAST] = min(edge[block, LEAST], side)
    edge[block // GROUP, LEAST_OF_GROUP] = min(edge[block // GROUP, LEAST_OF_GROUP], side)


@inlined
def before(bins: FloatArray, i: int, load: float, side: float, number: float) -> bool:
    """Whether bin i comes before (load, side, number)."""
    if bins[i, LOAD] != load:
        return bool(bins[i, LOAD] < load)
    if bins[i, SIDE] != side:
        return bool(bins[i, SIDE] < side)
    return bool(bins[i, NUMBER] < number)


@compiled
def _split(cell: FloatArray, edge: FloatArray, index: IntArray, block: int) -> None:
    """Move the upper half of a full block into a block of its own, behind it."""
    fresh = index[-1, 0]  # rows are never given back, so the next one is free
    for b in range(fresh, block + 1, -1):
        index[b, ROW], index[b, HELD] = index[b - 1, ROW], index[b - 1, HELD]
        for field in range(LEAST + 1):
            edge[b, field] = edge[b - 1, field]
    for group in range(block // GROUP, fresh // GROUP + 1):
        edge[group, LEAST_OF_GROUP] = 0.0
    index[-1, 0] = fresh + 1
    half = WIDTH // 2
    for i in range(half):
        for field in range(3):
            cell[fresh, i, field] = cell[index[block, ROW], half + i, field]
    index[block + 1, ROW] = fresh
    index[block, HELD] = index[block + 1, HELD] = half
    edge[block + 1, LEAST] = edge[block, LEAST]
    for field in range(3):
        edge[block + 1, field] = cell[fresh, 0, field]
