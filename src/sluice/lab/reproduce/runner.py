"""Runs many independent pieces on several processes; the results come in the order of the pieces."""

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import TypeVar

_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")


class Runner:
    """One pool for everything a reproduction runs: processes start once, compiled code loads once."""

    def __init__(self, jobs: int) -> None:
        # Fresh processes: forking one that has started compiled threads is not safe.
        self._pool = ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn")) if jobs > 1 else None

    def map(self, do: Callable[[_Piece], _Result], pieces: Iterable[_Piece]) -> list[_Result]:
        """`do` for each piece; it and the pieces must be picklable."""
        return list(self._pool.map(do, pieces) if self._pool else map(do, pieces))

    def __enter__(self) -> "Runner":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
