"""What every packer takes and gives, and how its input is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import BoolArray, FloatArray, IntArray

# (size of each item, its owner now or -1, capacity of a bin) -> its new owner, in the same numbering.
Packer = Callable[[FloatArray, IntArray, float], IntArray]


@dataclass(frozen=True, slots=True)
class Packing:
    """`bins[i]` is the bin of item i, of 0 … count - 1. An item over a capacity is `oversize`, alone in its bin."""

    bins: IntArray
    count: int
    oversize: BoolArray


def own_floats(values: Any) -> FloatArray:
    """A contiguous, writable copy: kernels are compiled for this one kind of array and may scribble on it."""
    return np.array(values, dtype=np.float64)


def own_ints(values: Any) -> IntArray:
    return np.array(values, dtype=np.int64)


def check_capacity(name: str, capacity: float) -> None:
    if not capacity > 0.0:
        raise InputError(f"{name} = {capacity} cannot hold anything; give a number above 0")


def check_owner(size: FloatArray, owner: IntArray) -> None:
    if size.ndim != 1 or size.shape != owner.shape:
        raise InputError(f"size has shape {size.shape} but owner {owner.shape}; give one of each an item")


def refuse(name: str, values: FloatArray) -> NoReturn:
    """Name the first item that is not a number >= 0."""
    position = int(np.flatnonzero(~((values >= 0.0) & (values < np.inf)))[0])
    raise InputError(f"{name}[{position}] = {values[position]}; every {name} must be a finite number of at least 0")
