"""What all values share: frozen arrays, and equality that looks into them.

Inside an array an unknown number is NaN; a whole field that is unknown is None. Neither is ever 0.
"""

from dataclasses import Field
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
_Item = TypeVar("_Item", bound=np.generic)


class Value:
    """Base of the frozen dataclasses that hold arrays (declare them with ``eq=False``)."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__} holds arrays and cannot be hashed")


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
