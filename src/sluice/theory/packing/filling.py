"""One attempt of Least-Loaded: every item into one of a given number of bins, or not at all.

The bins stand in a row, least loaded first. An item goes to the first that has room; the bin then waits,
with its new load, in a second row. As items come biggest first a bin seldom gets its next item before
most others got one, so the waiting bins are sorted and merged back once a round instead of one by one.
When an item finds no room near the front the rest of the attempt runs on a shelf, which finds room
anywhere in few steps.
"""

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.ordering import SMALL, radix
from sluice.theory.packing.shelf import LOAD, NUMBER, SIDE, empty_shelf, first_that_takes, lay, put, take

# How many bins without room are passed over in the row before the shelf takes over.
NEAR = 48


@compiled
def fill(
    rate: FloatArray,
    lag: FloatArray,
    rate_capacity: float,
    lag_capacity: float,
    order: IntArray,
    least_lag: FloatArray,
    count: int,
    bins: IntArray,
) -> bool:
    """Put the items of `order` into `count` bins; False at the first that fits in none.

    `order` is biggest rate first and holds no item that is over a capacity or without any load;
    `least_lag[p]` is the least lag of the items from position p on.
    """
    n = len(order)
    first = min(count, n)
    row, waiting = np.empty((count, 3)), np.empty((count, 3))
    _one_each(rate, lag, order, first, row, bins)
    front, waits, least = 0, 0, 0
    position = first
    while position < n:
        i = order[position]
        if front < count and row[front, SIDE] + least_lag[position] > lag_capacity:
            front += 1  # too full for anything still to come
            continue
        place = front
        end = min(front + NEAR, count)
        while place < end and row[place, SIDE] + lag[i] > lag_capacity:
            place += 1
        if waits > 0 and (place == end or _less(waiting, least, row, place)):
            front = _merge(row, front, waiting, waits)
            waits = 0
            continue
        if place == count:
            return False
        if place == end:
            break
        load = row[place, LOAD] + rate[i]
        if load > rate_capacity:
            return False
        waiting[waits, LOAD] = load
        waiting[waits, SIDE] = row[place, SIDE] + lag[i]
        waiting[waits, NUMBER] = row[place, NUMBER]
        bins[i] = np.int64(row[place, NUMBER])
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
    return _fill_on_shelf(rate, lag, rate_capacity, lag_capacity, order, position, row, front, bins)


@compiled
def _fill_on_shelf(
    rate: FloatArray,
    lag: FloatArray,
    rate_capacity: float,
    lag_capacity: float,
    order: IntArray,
    position: int,
    row: FloatArray,
    front: int,
    bins: IntArray,
) -> bool:
    shelf = empty_shelf(len(row) - front, len(order) - position)
    for b in range(front, len(row)):
        lay(shelf, row[b, LOAD], row[b, SIDE], row[b, NUMBER])
    for p in range(position, len(order)):
        i = order[p]
        block, place = first_that_takes(shelf, lag[i], lag_capacity)
        if block < 0:
            return False
        at = shelf.row[block]
        load, side, number = shelf.cell[at, place, LOAD], shelf.cell[at, place, SIDE], shelf.cell[at, place, NUMBER]
        if load + rate[i] > rate_capacity:
            return False
        bins[i] = np.int64(number)
        take(shelf, block, place)
        put(shelf, load + rate[i], side + lag[i], number)
    return True


@compiled
def _one_each(rate: FloatArray, lag: FloatArray, order: IntArray, first: int, row: FloatArray, bins: IntArray) -> None:
    """An empty bin is the least loaded: the first items get one each, in their order. Least loaded comes first."""
    place = 0
    for b in range(first, len(row)):
        row[place, LOAD], row[place, SIDE], row[place, NUMBER] = 0.0, 0.0, b
        place += 1
    end = first
    while end > 0:
        # Equal items are taken together: the lower number comes first.
        start = end - 1
        i = order[start]
        while start > 0 and rate[order[start - 1]] == rate[i] and lag[order[start - 1]] == lag[i]:
            start -= 1
        for b in range(start, end):
            row[place, LOAD], row[place, SIDE], row[place, NUMBER] = rate[i], lag[i], b
            place += 1
            bins[order[b]] = b
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


@compiled
def _less(left: FloatArray, a: int, right: FloatArray, b: int) -> bool:
    if left[a, LOAD] != right[b, LOAD]:
        return bool(left[a, LOAD] < right[b, LOAD])
    if left[a, SIDE] != right[b, SIDE]:
        return bool(left[a, SIDE] < right[b, SIDE])
    return bool(left[a, NUMBER] < right[b, NUMBER])
