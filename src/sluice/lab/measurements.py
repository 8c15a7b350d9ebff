"""A recorded stream of partition sizes, read from a file.

JSON is a list of measurements {topic: {partition: size}}; CSV has the columns iteration, partition, size.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any

from sluice.errors import InputError
from sluice.model import Partition

Measurement = Mapping[Partition, float]
"""Size of each partition at one moment, in the order of the file."""
COLUMNS = ("iteration", "partition", "size")


def read_measurements(path: Path) -> tuple[Measurement, ...]:
    """All measurements of a file, at least one, each of at least one partition."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; give a JSON or CSV file of measurements") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text; give a JSON or CSV file of measurements") from None
    found = _from_json(path, text) if text.lstrip()[:1] in ("[", "{") else _from_csv(path, text)
    if not found:
        raise InputError(f"{path} holds no measurement; give at least one")
    return found


def _from_json(path: Path, text: str) -> tuple[Measurement, ...]:
    try:
        steps = json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is no JSON: {error.msg} in line {error.lineno}") from None
    if not isinstance(steps, list) or isinstance(steps, _Pairs):
        raise InputError(f"{path} is no list of measurements; give [{{topic: {{partition: size}}}}, …]")
    return tuple(_step(path, number, step) for number, step in enumerate(steps))


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs: a key that comes twice is seen."""


def _step(path: Path, number: int, step: Any) -> Measurement:
    where = f"{path}, measurement {number}"
    if not isinstance(step, _Pairs) or not all(isinstance(partitions, _Pairs) for _, partitions in step):
        raise InputError(f"{where} is not {{topic: {{partition: size}}}}")
    entries: list[tuple[Partition, float]] = []
    for topic, partitions in step:
        for key, value in partitions:
            if not key.isdigit():
                raise InputError(f"{where}, topic {topic!r}: partition {key!r} is no number")
            name = Partition(topic, int(key))
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"{where}: the size of {name} is {value!r}; give a number of at least 0")
            entries.append((name, float(value)))
    return _measurement(where, entries)


def _from_csv(path: Path, text: str) -> tuple[Measurement, ...]:
    try:
        lines = list(enumerate(csv.reader(text.splitlines()), start=1))
    except csv.Error as error:
        raise InputError(f"{path} is no CSV: {error}") from None
    rows = [(line, row) for line, row in lines if any(map(str.strip, row))]
    place = {name: position for position, name in enumerate(COLUMNS)}
    if rows and not _is_number(rows[0][1][0]):
        header = [name.strip().lower() for name in rows.pop(0)[1]]
        if not set(COLUMNS) <= set(header):
            raise InputError(f"{path} has the columns {', '.join(map(repr, header))}; give {', '.join(COLUMNS)}")
        place = {name: header.index(name) for name in COLUMNS}
    entries = [_csv_row(path, line, row, place) for line, row in rows]
    entries.sort(key=lambda entry: entry[0])  # stable: the order of partitions stays
    return tuple(
        _measurement(f"{path}, iteration {iteration}", [(name, size) for _, name, size in group])
        for iteration, group in groupby(entries, key=lambda entry: entry[0])
    )


def _csv_row(path: Path, line: int, row: Sequence[str], place: Mapping[str, int]) -> tuple[int, Partition, float]:
    where = f"{path}, line {line}"
    if len(row) <= max(place.values()):
        raise InputError(f"{where} has {len(row)} columns; give {', '.join(COLUMNS)}")
    iteration, partition, size = (row[place[name]].strip() for name in COLUMNS)
    if not iteration.isdigit():
        raise InputError(f"{where}: iteration {iteration!r} is no whole number")
    if not partition:
        raise InputError(f"{where}: the partition has no name")
    if not _is_number(size):
        raise InputError(f"{where}: size {size!r} is no number")
    name = Partition("", int(partition)) if partition.isdigit() else Partition.parse(partition)
    return int(iteration), name, float(size)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _measurement(where: str, entries: Iterable[tuple[Partition, float]]) -> Measurement:
    sizes: dict[Partition, float] = {}
    for name, size in entries:
        called = name if name.topic else f"partition {name.number}"
        if not 0.0 <= size < inf:
            raise InputError(f"{where}: the size of {called} is {size}; give a finite number of at least 0")
        if name in sizes:
            raise InputError(f"{where}: {called} is there twice")
        sizes[name] = size
    if not sizes:
        raise InputError(f"{where} holds no partition")
    return sizes
