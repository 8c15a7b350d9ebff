"""One attempt of Least-Loaded: every item into one of a given number of bins, or not at all.

The bins stand in a row, least loaded first. An item goes to the first that has room; the bin then waits,
with its new load, in a second row. As items come biggest first a bin seldom gets its next item before
most others got one, so the waiting bins are sorted and merged back once a round instead of one by one.
When an item finds no room near the front the rest of the attempt runs on a shelf, which finds room
anywhere in few steps.
"""

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled, inlined
from sluice.theory.packing.ordering import SMALL, radix
from sluice.theory.packing.shelf import LOAD, NUMBER, ROW, SIDE, before, clear_shelf, first_that_takes, lay, put, take

# How many bins without room are passed over in the row before the shelf takes over.
NEAR = 48


@compiled
def fill(
    rate: FloatArray,
    lag: FloatArray,
    least_lag: FloatArray,
    rate_capacity: float,
    lag_capacity: float,
    row: FloatArray,
    waiting: FloatArray,
    cell: FloatArray,
    edge: FloatArray,
    index: IntArray,
    bins: IntArray,
) -> bool:
    """Put the items into as many bins as `row` has lines; False at the first that fits in none.

    Items come biggest rate first; none is over a capacity or without any load. `least_lag[p]` is the least
    lag of the items from p on. `row` and `waiting` (bins by load) and the shelf are room to work in.
    """
    n, count = len(rate), len(row)
    position = min(count, n)
    _one_each(rate, lag, position, row, bins)
    front, waits, least = 0, 0, 0
    while position < n:
        if front < count and row[front, SIDE] + least_lag[position] > lag_capacity:
            front += 1  # too full for anything still to come
            continue
        place = front
        end = min(front + NEAR, count)
        while place < end and row[place, SIDE] + lag[position] > lag_capacity:
            place += 1
        if waits > 0 and (place == end or _less(waiting, least, row, place)):
            front = _merge(row, front, waiting, waits)
            waits = 0
            continue
        if place == count:
            return False
        if place == end:
            break
        load = row[place, LOAD] + rate[position]
        if load > rate_capacity:
            return False
        waiting[waits, LOAD] = load
        waiting[waits, SIDE] = row[place, SIDE] + lag[position]
        waiting[waits, NUMBER] = row[place, NUMBER]
        bins[position] = np.int64(row[place, NUMBER])
        if waits == 0 or _less(waiting, waits, waiting, least):
            least = waits
        waits += 1
        for p in range(place, front, -1):
            for field in range(3):
                row[p, field] = row[p - 1, field]
        front += 1
        position += 1
    if position == n:
        return True
    clear_shelf(edge, index)
    for b in range(front, count):
        lay(cell, edge, index, row[b, LOAD], row[b, SIDE], row[b, NUMBER])
    for p in range(position, n):
        block, place = first_that_takes(cell, edge, index, lag[p], lag_capacity)
        if block < 0:
            return False
        at = index[block, ROW]
        load, side, number = cell[at, place, LOAD], cell[at, place, SIDE], cell[at, place, NUMBER]
        if load + rate[p] > rate_capacity:
            return False
        bins[p] = np.int64(number)
        take(cell, index, block, place)
        put(cell, edge, index, load + rate[p], side + lag[p], number)
    return True


@compiled
def _one_each(rate: FloatArray, lag: FloatArray, first: int, row: FloatArray, bins: IntArray) -> None:
    """An empty bin is the least loaded: the first items get one each, in their order. Least loaded comes first."""
    place = 0
    for b in range(first, len(row)):
        row[place, LOAD], row[place, SIDE], row[place, NUMBER] = 0.0, 0.0, b
        place += 1
    end = first
    while end > 0:
        # Equal items are taken together: the lower number comes first.
        start = end - 1
        while start > 0 and rate[start - 1] == rate[start] and lag[start - 1] == lag[start]:
            start -= 1
        for b in range(start, end):
            row[place, LOAD], row[place, SIDE], row[place, NUMBER] = rate[b], lag[b], b
            place += 1
            bins[b] = b
        end = start


@compiled
def _merge(row: FloatArray, front: int, waiting: FloatArray, waits: int) -> int:
    """Sort the waiting bins and merge them into the row; where the row begins now."""
    order = _sorted(waiting, waits)
    target = begin = front - waits
    for b in order:
        while front < len(row) and _less(row, front, waiting, b):
            for field in range(3):
                row[target, field] = row[front, field]
            target += 1
            front += 1
        for field in range(3):
            row[target, field] = waiting[b, field]
        target += 1
    return begin


@compiled
def _sorted(bins: FloatArray, count: int) -> IntArray:
    """Positions of the first `count` bins in ascending order."""
    order = np.arange(count)
    keys = np.empty(count, np.uint64)
    bits = bins.view(np.uint64)
    # By the upper half of the loads' bits first. Few bins agree in those, so the rest is done by insertion;
    # where many do, it is given up and the bins are sorted by each field in turn, the last one first.
    if count > SMALL:
        for b in range(count):
            keys[b] = bits[b, LOAD] >> np.uint64(32)
        radix(keys, order)
    steps = 0
    for end in range(1, count):
        b = order[end]
        place = end
        while place > 0 and _less(bins, b, bins, order[place - 1]):
            order[place] = order[place - 1]
            place -= 1
        order[place] = b
        steps += end - place
        if steps > SMALL * count:
            break
    if steps > SMALL * count:
        for field in range(2, -1, -1):
            for p in range(count):
                keys[p] = bits[order[p], field]
            radix(keys, order)
    return order


@inlined
def _less(left: FloatArray, a: int, right: FloatArray, b: int) -> bool:
    return before(left, a, right[b, LOAD], right[b, SIDE], right[b, NUMBER])
