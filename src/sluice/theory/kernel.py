"""How hot loops are compiled."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

_F = TypeVar("_F", bound=Callable[..., object])


def compiled(function: _F) -> _F:
    """Compile to machine code on first call and keep the result on disk; releases the GIL."""
    return cast(_F, numba.njit(cache=True, nogil=True)(function))


def inlined(function: _F) -> _F:
    """A part of a hot loop: its code replaces every call, so handing over many arrays costs nothing."""
    return cast(_F, numba.njit(cache=True, nogil=True, forceinline=True)(function))
