"""The World Cup 98 access logs: records of 20 bytes, big-endian, plain or gzip.

A record is: time (s), client, object, size (bytes; all ones: unknown), 4 bytes each; method, status, type, server, 1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from sluice.pipeline.failures import plain_failures
from sluice.pipeline.traces.base import TORN, as_records

RECORD = np.dtype(
    [
        ("time", ">u4"),
        ("client", ">u4"),
        ("object", ">u4"),
        ("size", ">u4"),
        ("method", "u1"),
        ("status", "u1"),
        ("type", "u1"),
        ("server", "u1"),
    ]
)
UNKNOWN_SIZE = 0xFFFFFFFF
_CHUNK_RECORDS = 1 << 16
_ROWS = "file string, row long, time_s double, client long, size_bytes long, record string"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldCup98:
    """The client is the key."""

    ordered: bool = True
    step_s: float | None = field(default=None, init=False)
    keyed: bool = field(default=True, init=False)

    def read(self, session: SparkSession, paths: Sequence[str]) -> DataFrame:
        with plain_failures(f"trace {', '.join(paths)}"):
            files = session.read.format("binaryFile").load(list(paths)).select("path")
        rows = files.repartition(fn.col("path")).mapInArrow(_decode, _ROWS)
        return as_records(
            rows,
            block=fn.lit(0),
            key=fn.col("client").cast("string").cast("binary"),
            events=fn.lit(1.0),
            problem=fn.when(fn.col("time_s").isNull(), fn.lit(TORN)),
        )


def _decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    # Imported where the executors run: Arrow's file systems read local, HDFS and object storage alike.
    from pyarrow.fs import FileSystem

    for batch in batches:
        for path in batch.column("path").to_pylist():
            system, inner = FileSystem.from_uri(path)
            # Compression is told by the file's ending.
            with system.open_input_stream(inner) as stream:
                yield from _records(stream, path.rpartition("/")[2])


def _records(stream: IO[bytes] | pa.NativeFile, name: str) -> Iterator[pa.RecordBatch]:
    row, rest = 0, b""
    while chunk := stream.read(_CHUNK_RECORDS * RECORD.itemsize):
        data = rest + chunk
        whole = len(data) - len(data) % RECORD.itemsize
        rest = data[whole:]
        records = np.frombuffer(data[:whole], dtype=RECORD)
        size = records["size"].astype(np.int64)
        count = len(records)
        yield pa.record_batch(
            {
                "file": pa.repeat(name, count),
                "row": pa.array(np.arange(row, row + count)),
                "time_s": pa.array(records["time"].astype(np.float64)),
                "client": pa.array(records["client"].astype(np.int64)),
                "size_bytes": pa.array(size, mask=size == UNKNOWN_SIZE),
                "record": pa.nulls(count, pa.string()),
            }
        )
        row += count
    if rest:
        torn = {"file": [name], "row": [row], "time_s": [None], "client": [None], "size_bytes": [None]}
        yield pa.RecordBatch.from_pydict(torn | {"record": [rest.hex()]}, schema=_ARROW_ROWS)


_ARROW_ROWS = pa.schema(
    [
        ("file", pa.string()),
        ("row", pa.int64()),
        ("time_s", pa.float64()),
        ("client", pa.int64()),
        ("size_bytes", pa.int64()),
        ("record", pa.string()),
    ]
)
