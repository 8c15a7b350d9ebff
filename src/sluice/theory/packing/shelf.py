"""Bins kept in order of their load, in compiled code.

A shelf is a sorted list cut into blocks of at most WIDTH bins: finding, taking out and putting in touch one
block. A block holds the keys from its `head` up to the next one's; a full block is split, an empty one
stays. Each block, and each group of blocks, knows a load below which no `side` in it lies, so that crowds of
bins whose second dimension is full are passed over at a glance; a search in vain makes that load exact.

Functions are few and flat on purpose: the compiler works through a callee again in each of its callers.
"""

from typing import NamedTuple

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled

WIDTH = 64
GROUP = 32
# The fields of a bin, in the order in which bins are compared. A number is kept as a float: exact up to 2**53.
LOAD, SIDE, NUMBER = 0, 1, 2


class Shelf(NamedTuple):
    """Bins by (load, side, number), ascending. Block b is the first `held[b]` bins of `cell[row[b]]`."""

    cell: FloatArray
    head: FloatArray
    least: FloatArray
    least_of_group: FloatArray
    row: IntArray
    held: IntArray
    blocks: IntArray  # one number, how many there are


@compiled
def empty_shelf(bins: int, changes: int) -> Shelf:
    """Room for `bins` bins laid out at first and for `changes` bins put in later."""
    # A block is half full when it is made, and is split after as many more came in.
    blocks = 2 * (bins + changes) // WIDTH + 2
    return Shelf(
        np.empty((blocks, WIDTH, 3)),
        np.empty((blocks, 3)),
        np.empty(blocks),
        np.zeros(blocks // GROUP + 1),
        np.empty(blocks, np.int64),
        np.empty(blocks, np.int64),
        np.zeros(1, np.int64),
    )


@compiled
def lay(shelf: Shelf, load: float, side: float, number: float) -> None:
    """Put a bin at the end; the caller lays bins in ascending order."""
    block = shelf.blocks[0] - 1
    if block < 0 or shelf.held[block] >= WIDTH // 2:
        block += 1
        shelf.blocks[0] = block + 1
        shelf.row[block] = block
        shelf.held[block] = 0
        shelf.least[block] = side
        shelf.head[block, LOAD], shelf.head[block, SIDE], shelf.head[block, NUMBER] = load, side, number
    place = shelf.held[block]
    bins = shelf.cell[block]
    bins[place, LOAD], bins[place, SIDE], bins[place, NUMBER] = load, side, number
    shelf.held[block] = place + 1
    shelf.least[block] = min(shelf.least[block], side)


@compiled
def first_that_takes(shelf: Shelf, side: float, side_capacity: float) -> tuple[int, int]:
    """Block and place of the least loaded bin whose second dimension has room for `side`; (-1, -1) if none."""
    blocks = shelf.blocks[0]
    for group in range((blocks + GROUP - 1) // GROUP):
        if shelf.least_of_group[group] + side > side_capacity:
            continue
        least_of_group = np.inf
        for block in range(group * GROUP, min(group * GROUP + GROUP, blocks)):
            if shelf.least[block] + side <= side_capacity:
                row = shelf.row[block]
                least = np.inf
                for place in range(shelf.held[block]):
                    if shelf.cell[row, place, SIDE] + side <= side_capacity:
                        return block, place
                    least = min(least, shelf.cell[row, place, SIDE])
                shelf.least[block] = least
            least_of_group = min(least_of_group, shelf.least[block])
        shelf.least_of_group[group] = least_of_group
    return -1, -1


@compiled
def last_that_takes(shelf: Shelf, load: float, capacity: float) -> tuple[int, int]:
    """Block and place of the most loaded bin that has room for `load`; (-1, -1) if none."""
    low, high = min(shelf.blocks[0], 1), shelf.blocks[0]  # the first block also holds what comes before its head
    while low < high:
        middle = (low + high) // 2
        if shelf.head[middle, LOAD] + load <= capacity:
            low = middle + 1
        else:
            high = middle
    for block in range(low - 1, -1, -1):
        row = shelf.row[block]
        place = shelf.held[block] - 1
        while place >= 0 and shelf.cell[row, place, LOAD] + load > capacity:
            place -= 1
        if place >= 0:
            return block, place
    return -1, -1


@compiled
def take(shelf: Shelf, block: int, place: int) -> None:
    """Take out the bin at `place` of `block`."""
    row = shelf.row[block]
    shelf.held[block] -= 1
    for i in range(place, shelf.held[block]):
        for field in range(3):
            shelf.cell[row, i, field] = shelf.cell[row, i + 1, field]


@compiled
def put(shelf: Shelf, load: float, side: float, number: float) -> None:
    """Put a bin where it belongs."""
    low, high = 1, shelf.blocks[0]  # the last block whose head does not come after the bin, else the first
    while low < high:
        middle = (low + high) // 2
        if _before(shelf.head, middle, load, side, number):
            low = middle + 1
        else:
            high = middle
    block = low - 1
    if shelf.held[block] == WIDTH:
        _split(shelf, block)
        if _before(shelf.head, block + 1, load, side, number):
            block += 1
    bins = shelf.cell[shelf.row[block]]
    place = shelf.held[block]
    while place > 0 and not _before(bins, place - 1, load, side, number):
        for field in range(3):
            bins[place, field] = bins[place - 1, field]
        place -= 1
    bins[place, LOAD], bins[place, SIDE], bins[place, NUMBER] = load, side, number
    shelf.held[block] += 1
    shelf.least[block] = min(shelf.least[block], side)
    shelf.least_of_group[block // GROUP] = min(shelf.least_of_group[block // GROUP], side)


@compiled
def _before(bins: FloatArray, i: int, load: float, side: float, number: float) -> bool:
    if bins[i, LOAD] != load:
        return bool(bins[i, LOAD] < load)
    if bins[i, SIDE] != side:
        return bool(bins[i, SIDE] < side)
    return bool(bins[i, NUMBER] < number)


@compiled
def _split(shelf: Shelf, block: int) -> None:
    """Move the upper half of a full block into a block of its own, behind it."""
    fresh = shelf.blocks[0]  # rows are never given back, so the next one is free
    for b in range(fresh, block + 1, -1):
        shelf.row[b], shelf.held[b], shelf.least[b] = shelf.row[b - 1], shelf.held[b - 1], shelf.least[b - 1]
        for field in range(3):
            shelf.head[b, field] = shelf.head[b - 1, field]
    for group in range(block // GROUP, fresh // GROUP + 1):
        shelf.least_of_group[group] = 0.0
    shelf.blocks[0] = fresh + 1
    shelf.row[block + 1] = fresh
    half = WIDTH // 2
    full = shelf.cell[shelf.row[block]]
    for i in range(half):
        for field in range(3):
            shelf.cell[fresh, i, field] = full[half + i, field]
    shelf.held[block] = shelf.held[block + 1] = half
    shelf.least[block + 1] = shelf.least[block]
    for field in range(3):
        shelf.head[block + 1, field] = shelf.cell[fresh, 0, field]
