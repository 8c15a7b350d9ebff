"""Next, first, best and worst fit, plain and decreasing, with a memory of who owned what.

Opening a bin for an item reopens the consumer that owned it, if that one is not open yet; otherwise
the lowest free number is taken. This changes no bin count, only which consumer it is.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.base import Packer, check_capacity, check_owner, own_floats, own_ints, refuse

NEXT, FIRST, BEST, WORST = range(4)


def any_fit(size: Any, owner: Any, capacity: float, *, fit: int, decreasing: bool) -> IntArray:
    """The new owner of each item; items are taken in the order given, or biggest first."""
    size, owner = own_floats(size), own_ints(owner)
    check_capacity("capacity", capacity)
    check_owner(size, owner)
    packed, usable = _any_fit(size, owner, capacity, fit, decreasing)
    if not usable:
        refuse_item(size, owner)
    return packed


ANY_FIT: Mapping[str, Packer] = {
    name + suffix: partial(any_fit, fit=fit, decreasing=bool(suffix))
    for suffix in ("", "d")
    for name, fit in (("nf", NEXT), ("ff", FIRST), ("bf", BEST), ("wf", WORST))
}


def refuse_item(size: FloatArray, owner: IntArray) -> None:
    if (owner < -1).any():
        position = int(np.flatnonzero(owner < -1)[0])
        raise InputError(f"owner[{position}] = {owner[position]}; use -1 for an item nobody owns")
    refuse("size", size)


@compiled
def _any_fit(size: FloatArray, owner: IntArray, capacity: float, fit: int, decreasing: bool) -> tuple[IntArray, bool]:
    n = len(size)
    packed = np.full(n, -1, np.int64)
    highest = highest_owner(size, owner)
    if highest < -1:
        return packed, False
    order = np.argsort(-size, kind="mergesort") if decreasing else np.arange(n)
    load = np.empty(n)
    consumer = np.empty(n, np.int64)
    is_open = np.zeros(highest + n + 2, np.bool_)
    count = 0
    for i in order:
        b = choose(load, count, size[i], capacity, fit)
        if b < 0:
            b = count
            consumer[b] = number_for(owner[i], is_open)
            load[b] = 0.0
            count += 1
        load[b] += size[i]
        packed[i] = consumer[b]
    return packed, True


@compiled
def highest_owner(size: FloatArray, owner: IntArray) -> int:
    """The highest owner's number; -2 if an item cannot be used."""
    highest = -1
    for i in range(len(size)):
        if not 0.0 <= size[i] < np.inf or owner[i] < -1:
            return -2
        highest = max(highest, owner[i])
    return highest


@compiled
def choose(load: FloatArray, count: int, size: float, capacity: float, fit: int) -> int:
    """The open bin that takes the item, in opening order; -1 where none does."""
    best = -1
    for b in range(count - 1 if fit == NEXT and count > 0 else 0, count):
        if load[b] + size > capacity:
            continue
        if fit in (FIRST, NEXT):
            return b
        if best < 0 or (load[b] > load[best] if fit == BEST else load[b] < load[best]):
            best = b
    return best


@compiled
def number_for(owner: int, is_open: np.ndarray) -> int:
    """Open the old owner if it is not open yet, else the lowest free number."""
    number = owner
    if owner < 0 or is_open[owner]:
        number = 0
        while is_open[number]:
            number += 1
    is_open[number] = True
    return number
