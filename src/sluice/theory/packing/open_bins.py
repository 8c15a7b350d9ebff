"""The bins opened so far and the consumer each one is, in compiled code.

Bins are numbered as they are opened: `bins[b]` is the load and the consumer of bin b. `taken[c]` tells whether
consumer c is open; its last two places hold the number of bins and a number below which all are taken. First
fit keeps a tree over the bins, each node with the least load below it; best and worst fit keep a shelf by load.
"""

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled, inlined
from sluice.theory.packing.shelf import NUMBER, ROW, first_that_takes, last_that_takes, lay, put, take

NEXT, FIRST, BEST, WORST = range(4)
LOAD, CONSUMER = 0, 1
COUNT, FREE = -1, -2


@compiled
def no_bins(fit: int, items: int, highest: int) -> tuple[FloatArray, IntArray, FloatArray]:
    """`bins`, `taken` and `tree` before the first is opened, for `items` items of owners up to `highest`."""
    leaves = 1
    while fit == FIRST and leaves < items:
        leaves *= 2
    return np.empty((items, 2)), np.zeros(highest + items + 4, np.int64), np.full(2 * leaves, np.inf)


@inlined
def offer(
    fit: int,
    size: float,
    capacity: float,
    bins: FloatArray,
    taken: IntArray,
    tree: FloatArray,
    cell: FloatArray,
    edge: FloatArray,
    index: IntArray,
) -> int:
    """Give an item to the open bin that the fit picks; the consumer that bin is, or -1 if it fits in none."""
    b = block = place = -1
    if fit == NEXT:
        b = taken[COUNT] - 1
    elif fit == FIRST:
        b = _first(tree, size, capacity)
    else:
        if fit == WORST:
            block, place = first_that_takes(cell, edge, index, 0.0, 0.0)
        else:
            block, place = last_that_takes(cell, edge, index, size, capacity)
        if block >= 0:
            b = abs(int(cell[index[block, ROW], place, NUMBER]))
    if b < 0 or bins[b, LOAD] + size > capacity:
        return -1
    bins[b, LOAD] += size
    if fit == FIRST:
        _set_leaf(tree, b, bins[b, LOAD])
    elif fit != NEXT:
        take(cell, index, block, place)
        put(cell, edge, index, bins[b, LOAD], 0.0, float(b if fit == WORST else -b))
    return int(bins[b, CONSUMER])


@inlined
def open_for(
    fit: int,
    owner: int,
    load: float,
    bins: FloatArray,
    taken: IntArray,
    tree: FloatArray,
    cell: FloatArray,
    edge: FloatArray,
    index: IntArray,
) -> int:
    """Open a bin: an item's old owner if not open yet, else the lowest free number. The consumer it is."""
    consumer = owner
    if owner < 0 or taken[owner] > 0:
        while taken[taken[FREE]] > 0:
            taken[FREE] += 1
        consumer = int(taken[FREE])
    taken[consumer] = 1
    b = int(taken[COUNT])
    taken[COUNT] = b + 1
    bins[b, LOAD], bins[b, CONSUMER] = load, consumer
    if fit == FIRST:
        _set_leaf(tree, b, load)
    elif fit != NEXT and b == 0:
        lay(cell, edge, index, load, 0.0, 0.0)
    elif fit != NEXT:
        put(cell, edge, index, load, 0.0, float(b if fit == WORST else -b))
    return consumer


@inlined
def _first(tree: FloatArray, size: float, capacity: float) -> int:
    if tree[1] + size > capacity:
        return -1
    node = 1
    while node < len(tree) // 2:
        node *= 2
        if tree[node] + size > capacity:
            node += 1
    return node - len(tree) // 2


@inlined
def _set_leaf(tree: FloatArray, b: int, load: float) -> None:
    node = len(tree) // 2 + b
    tree[node] = load
    while node > 1:
        node //= 2
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
