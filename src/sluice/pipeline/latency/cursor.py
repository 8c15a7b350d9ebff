"""Reads what a consumer read of one partition, a piece at a time, straight from the files of the layout."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileSystem

from sluice.errors import InputError
from sluice.model.values import FloatArray, IntArray
from sluice.pipeline.latency.history import Segment
from sluice.simulate import FixedService, PerByteService
from sluice.theory.fifo import Queues

Service = FixedService | PerByteService
_BUFFER_BYTES = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Consecutive events of a partition, all of one segment."""

    first_event: int
    readable_s: float
    time_s: FloatArray
    sequence: IntArray
    service_s: FloatArray | None


class Cursor:
    """One partition as one consumer read it."""

    def __init__(
        self, system: FileSystem, folder: str, segments: Sequence[Segment], service: Service | None, length: int
    ) -> None:
        self._pieces = _pieces(system, folder, segments, service, length)
        self.first_event = 0
        """Of the piece that was filled in last."""

    def fill(self, queues: Queues, q: int) -> None:
        """The next piece becomes row `q`; without one the queue has ended."""
        piece = next(self._pieces, None)
        if piece is None:
            queues.ended[q] = True
            return
        count = len(piece.time_s)
        np.maximum(piece.time_s, piece.readable_s, out=queues.ready_s[q, :count])
        queues.arrival_s[q, :count] = piece.time_s
        queues.number[q, :count] = piece.sequence
        if piece.service_s is not None:
            queues.service_s[q, :count] = piece.service_s
        queues.at[q], queues.end[q] = 0, count
        self.first_event = piece.first_event


def _pieces(
    system: FileSystem, folder: str, segments: Sequence[Segment], service: Service | None, length: int
) -> Iterator[Piece]:
    columns = ["time_s", "sequence"]
    if service is None:
        columns.append("service_s")
    elif isinstance(service, PerByteService):
        columns.append("size_bytes")
    first = 0
    latest_s = -np.inf
    for path in _files(system, folder):
        with pq.ParquetFile(system.open_input_file(path), buffer_size=_BUFFER_BYTES, pre_buffer=False) as file:
            _check_columns(file, columns, path)
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if _touched(segments, first, first + rows):
                    start = first
                    for batch in file.iter_batches(length, row_groups=[group], columns=columns, use_threads=False):
                        time_s = batch.column("time_s").to_numpy()
                        _check_order(time_s, latest_s, path)
                        latest_s = time_s[-1]
                        yield from _cut(batch, time_s, start, segments, service)
                        start += len(batch)
                first += rows


def _cut(
    batch: Any, time_s: FloatArray, start: int, segments: Sequence[Segment], service: Service | None
) -> Iterator[Piece]:
    stop = start + len(time_s)
    sequence = batch.column("sequence").to_numpy()
    service_s = _service_of(batch, service)
    for segment in segments:
        low, high = max(segment.from_event, start), min(segment.to_event, stop)
        if low < high:
            mine = slice(low - start, high - start)
            yield Piece(
                first_event=low,
                readable_s=segment.readable_s,
                time_s=time_s[mine],
                sequence=sequence[mine],
                service_s=None if service_s is None else service_s[mine],
            )


def _service_of(batch: Any, service: Service | None) -> FloatArray | None:
    if isinstance(service, FixedService):
        return None
    name = "service_s" if service is None else "size_bytes"
    column = batch.column(name)
    if column.null_count:
        raise InputError(f"{column.null_count} events have no {name}; their service time is not known")
    values: FloatArray = column.to_numpy().astype(np.float64)
    return values if service is None else service.base_s + service.s_per_byte * values


def _files(system: FileSystem, folder: str) -> list[str]:
    found = system.get_file_info(FileSelector(folder, allow_not_found=True))
    # Files of one partition are in the order of their names.
    return sorted(info.path for info in found if info.base_name.endswith(".parquet") and info.base_name[0] not in "._")


def _touched(segments: Sequence[Segment], start: int, stop: int) -> bool:
    return any(segment.from_event < stop and segment.to_event > start for segment in segments)


def _check_columns(file: pq.ParquetFile, columns: list[str], path: str) -> None:
    missing = [name for name in columns if name not in file.schema_arrow.names]
    if missing:
        raise InputError(f"events {path} lack the column {missing[0]}; make them with `sluice pipeline traces`")


def _check_order(time_s: FloatArray, latest_s: float, path: str) -> None:
    if time_s[0] < latest_s or (time_s[1:] < time_s[:-1]).any():
        raise InputError(f"events {path} are not in the order of time; make them with `sluice pipeline traces`")
