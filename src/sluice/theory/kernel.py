"""How hot loops are compiled, and where the result is kept."""

import os
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config

_F = TypeVar("_F", bound=Callable[..., object])


def compiled(function: _F) -> _F:
    """Compile to machine code on first call and keep the result on disk; releases the GIL."""
    return cast(_F, _kept(function))


def inlined(function: _F) -> _F:
    """A part of a hot loop: its code replaces every call, so handing over many arrays costs nothing."""
    return cast(_F, _kept(function, forceinline=True))


def _kept(function: Callable[..., object], *, forceinline: bool = False) -> object:
    # Where numba keeps its results is a setting of the process; other users of numba in it keep theirs.
    settings: Any = config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(_folder(before))
    try:
        return numba.njit(cache=True, nogil=True, forceinline=forceinline)(function)
    finally:
        settings.CACHE_DIR = before


@cache
def _folder(chosen: str) -> Path:
    """A folder for exactly this source: numba looks at one file's date only, not at what that file calls."""
    package = Path(__file__).parents[1]
    digest = sha256(str(package).encode())
    for file in sorted(package.rglob("*.py")):
        stat = file.stat()
        digest.update(f"{file}:{stat.st_mtime_ns}:{stat.st_size}".encode())
    root = Path(chosen) if chosen else Path(os.environ.get("SLUICE_CACHE") or Path.home() / ".cache" / "sluice")
    return root / "compiled" / digest.hexdigest()[:16]
