"""The bins opened so far and the consumer each one is, in compiled code.

First fit keeps a tree over the bins in opening order, each node with the least load below it; best and worst
fit keep the bins on a shelf by load.
"""

from typing import NamedTuple

import numpy as np

from sluice.theory.arrays import BoolArray, FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.shelf import NUMBER, Shelf, empty_shelf, first_that_takes, last_that_takes, lay, put, take

NEXT, FIRST, BEST, WORST = range(4)
# Fields of `state`: bins opened, and a number below which every consumer is open.
COUNT, FREE = 0, 1


class OpenBins(NamedTuple):
    """Bins are numbered in the order in which they were opened."""

    fit: int
    capacity: float
    load: FloatArray
    consumer: IntArray
    is_open: BoolArray
    tree: FloatArray
    shelf: Shelf
    state: IntArray


@compiled
def no_bins(fit: int, capacity: float, items: int, highest: int) -> OpenBins:
    """Nothing opened yet; room for `items` items whose owners go up to `highest`."""
    leaves = 1
    while fit == FIRST and leaves < items:
        leaves *= 2
    on_shelf = items if fit in (BEST, WORST) else 0
    return OpenBins(
        fit,
        capacity,
        np.empty(items),
        np.empty(items, np.int64),
        np.zeros(highest + items + 2, np.bool_),
        np.full(2 * leaves, np.inf),
        empty_shelf(0, on_shelf),
        np.zeros(2, np.int64),
    )


@compiled
def offer(bins: OpenBins, size: float) -> int:
    """Give an item to the open bin that the fit picks; the consumer that bin is, or -1 if it fits in none."""
    b = block = place = -1
    if bins.fit == NEXT:
        b = bins.state[COUNT] - 1
        if b >= 0 and bins.load[b] + size > bins.capacity:
            b = -1
    elif bins.fit == FIRST:
        b = _first(bins.tree, size, bins.capacity)
    else:
        if bins.fit == WORST:
            block, place = first_that_takes(bins.shelf, 0.0, 0.0)
        else:
            block, place = last_that_takes(bins.shelf, size, bins.capacity)
        if block >= 0:
            b = abs(int(bins.shelf.cell[bins.shelf.row[block], place, NUMBER]))
            if bins.load[b] + size > bins.capacity:
                b = -1
    if b < 0:
        return -1
    bins.load[b] += size
    if bins.fit == FIRST:
        _set_leaf(bins.tree, b, bins.load[b])
    elif bins.fit != NEXT:
        take(bins.shelf, block, place)
        put(bins.shelf, bins.load[b], 0.0, float(b if bins.fit == WORST else -b))
    return int(bins.consumer[b])


@compiled
def open_for(bins: OpenBins, owner: int, size: float) -> int:
    """Open a bin for an item: its old owner if not open yet, else the lowest free number. The consumer it is."""
    number = owner
    if owner < 0 or bins.is_open[owner]:
        while bins.is_open[bins.state[FREE]]:
            bins.state[FREE] += 1
        number = int(bins.state[FREE])
    bins.is_open[number] = True
    b = bins.state[COUNT]
    bins.state[COUNT] = b + 1
    bins.consumer[b] = number
    bins.load[b] = size
    if bins.fit == FIRST:
        _set_leaf(bins.tree, b, size)
    elif bins.fit != NEXT:
        key = float(b if bins.fit == WORST else -b)
        if b == 0:
            lay(bins.shelf, size, 0.0, key)
        else:
            put(bins.shelf, size, 0.0, key)
    return number


@compiled
def _first(tree: FloatArray, size: float, capacity: float) -> int:
    if tree[1] + size > capacity:
        return -1
    node = 1
    while node < len(tree) // 2:
        node *= 2
        if tree[node] + size > capacity:
            node += 1
    return node - len(tree) // 2


@compiled
def _set_leaf(tree: FloatArray, b: int, load: float) -> None:
    node = len(tree) // 2 + b
    tree[node] = load
    while node > 1:
        node //= 2
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
