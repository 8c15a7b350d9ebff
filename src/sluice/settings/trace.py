"""Reads traces: CSV files of rates or of single events, as people and tools write them."""

import csv
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from sluice.errors import InputError


class RateTrace(NamedTuple):
    """One number a step of `step_s` seconds."""

    step_s: float
    values: NDArray[np.float64]


class EventTrace(NamedTuple):
    """One entry an event, in order of time."""

    time_s: NDArray[np.float64]
    partition: NDArray[np.int64] | None
    size_bytes: NDArray[np.float64] | None


def read_rates(path: Path) -> RateTrace:
    """A CSV of one number a row, or of a time and a number; a header, a byte-order mark and blank lines may be there.

    Times are seconds or ISO dates and must rise; rows that are missing on their grid are interpolated.
    """
    rows = _rows(path, columns=(1, 2))
    values = np.array([_number(path, line, row[-1]) for line, row in rows])
    for (line, row), value in zip(rows, values.tolist(), strict=True):
        if not 0 <= value < np.inf:
            raise InputError(f"trace {path}, line {line}: {row[-1]!r} is no rate; rates are finite and not negative")
    if len(rows[0][1]) == 1 or len(rows) == 1:
        return RateTrace(1.0, values)
    time_s = np.array([_seconds(path, line, row[0]) for line, row in rows])
    gaps = np.diff(time_s)
    if not (gaps > 0).all():
        line, row = rows[int(np.argmin(gaps > 0)) + 1]
        raise InputError(f"trace {path}, line {line}: time {row[0]!r} is not after the one before; sort the rows")
    step_s = float(np.median(gaps))
    grid = np.arange(0.0, time_s[-1] - time_s[0] + step_s / 2, step_s)
    return RateTrace(step_s, np.interp(grid, time_s - time_s[0], values))


def read_events(path: Path, partitions: int | None = None) -> EventTrace:
    """A CSV with a header: time_s, and if known partition (below `partitions`, where given) and size_bytes."""
    with _opened(path) as file:
        header = [cell.strip() for cell in next(csv.reader(file), [])]
    known = ("time_s", "partition", "size_bytes")
    if "time_s" not in header or not set(header) <= set(known):
        raise InputError(f"trace {path} has the header {','.join(header)!r}; it needs time_s and may have {known[1:]}")
    rows = _rows(path, columns=(len(header),))
    column = {
        name: np.array([_number(path, line, row[i]) for line, row in rows], dtype=np.float64)
        for i, name in enumerate(header)
    }
    order = np.argsort(column["time_s"], kind="stable")
    if not column["time_s"][order[0]] >= 0:
        raise InputError(f"trace {path} has events before 0 s; times count from the start of the run")
    partition = column.get("partition")
    if partition is not None and partitions is not None:
        for (line, _), number in zip(rows, partition.tolist(), strict=True):
            if number not in range(partitions):
                raise InputError(f"trace {path}, line {line}: partition {number:g} is not one of 0 to {partitions - 1}")
    size = column.get("size_bytes")
    return EventTrace(
        column["time_s"][order],
        None if partition is None else partition[order].astype(np.int64),
        None if size is None else size[order],
    )


def _rows(path: Path, columns: tuple[int, ...]) -> list[tuple[int, list[str]]]:
    """(line number, cells) of every row that is neither blank nor the header."""
    rows: list[tuple[int, list[str]]] = []
    with _opened(path) as file:
        try:
            lines = [(i, [c.strip() for c in cells]) for i, cells in enumerate(csv.reader(file), start=1) if any(cells)]
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(f"trace {path} is not CSV text: {error}") from None
    for position, (line, cells) in enumerate(lines):
        if len(cells) not in columns or (rows and len(cells) != len(rows[0][1])):
            wanted = " or ".join(str(c) for c in columns)
            raise InputError(
                f"trace {path}, line {line} has {len(cells)} columns; it needs {wanted}, the same in all rows"
            )
        # Only the first row may be a header: text further down is a mistake in the data.
        if position > 0 or _is_number(cells[-1]):
            rows.append((line, cells))
    if not rows:
        raise InputError(f"trace {path} has no rows; it needs at least one number")
    return rows


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise InputError(f"trace {path} cannot be read: {error.strerror}") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(path: Path, line: int, text: str) -> float:
    if not _is_number(text):
        raise InputError(f"trace {path}, line {line}: {text!r} is not a number")
    return float(text)


def _seconds(path: Path, line: int, text: str) -> float:
    if _is_number(text):
        return float(text)
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise InputError(f"trace {path}, line {line}: {text!r} is neither seconds nor an ISO date") from None
