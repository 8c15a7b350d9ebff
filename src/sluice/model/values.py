"""What all values share: frozen arrays, and equality that looks into them.

Inside an array an unknown number is NaN; a whole field that is unknown is None. Neither is ever 0.
"""

from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

__all__ = ["BoolArray", "FloatArray", "IntArray", "Value", "floats", "frozen", "ints", "replace"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
_Item = TypeVar("_Item", bound=np.generic)


class Value(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """Base of everything that is made anew each tick.

    As a frozen dataclass, and made ten times as fast: a tick makes eight of them. Frozen values hold no
    cycles, so the garbage collector need not look at them.
    """

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self.__struct_fields__)

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__} may hold arrays and cannot be hashed")


def _same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
    return bool(left == right)


def frozen(array: NDArray[_Item]) -> NDArray[_Item]:
    """The same array, from now on read-only."""
    array.flags.writeable = False
    return array


def floats(values: Any) -> FloatArray:
    """A read-only float array of its own."""
    return frozen(np.array(values, dtype=np.float64))


def ints(values: Any) -> IntArray:
    """A read-only integer array of its own."""
    return frozen(np.array(values, dtype=np.int64))
