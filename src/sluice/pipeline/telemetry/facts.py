"""What a batch of Kafka's records says, partition by partition: computed where the records are read.

Kafka's source reads each partition in one task, in the order of its offsets. So everything that depends on that order
is done in that task, column by column: no shuffle, no sort, and of the payload only its length is looked at.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasketches import frequent_strings_sketch
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from sluice.errors import InputError
from sluice.model.values import BoolArray, FloatArray, IntArray
from sluice.pipeline.telemetry.order import NOTHING_YET, InOrder, in_order
from sluice.pipeline.telemetry.spec import TelemetrySpec
from sluice.pipeline.telemetry.watermark import Heads

NO_TIME = "record has no time"
LATE = "late"
AHEAD = "ahead of the clock"
KEYS_LG_SIZE = 12
"""A sketch keeps up to 3072 keys; a key with more than 1 in 1000 of a window's events is always among them."""

FACTS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("newest_s", pa.float64()),
        ("next_offset", pa.int64()),
        (
            "seconds",
            pa.list_(
                pa.struct(
                    [
                        ("second", pa.int64()),
                        ("events", pa.int64()),
                        ("bytes", pa.int64()),
                        ("gaps", pa.int64()),
                        ("gap_s", pa.float64()),
                        ("gap_s2", pa.float64()),
                        ("next_offset", pa.int64()),
                    ]
                )
            ),
        ),
        ("keys", pa.list_(pa.struct([("end_s", pa.int64()), ("sketch", pa.binary())]))),
        ("bad", pa.list_(pa.struct([("offset", pa.int64()), ("time_s", pa.float64()), ("problem", pa.string())]))),
        ("reports", pa.list_(pa.struct([("offset", pa.int64()), ("record", pa.string())]))),
    ]
)
"""One row a partition; seconds and keys may come several times, they add up."""


def slim(records: DataFrame, spec: TelemetrySpec) -> DataFrame:
    """Of Kafka's columns what the facts need: payloads of events become their length."""
    size = fn.coalesce(fn.octet_length("key"), fn.lit(0)) + fn.coalesce(fn.octet_length("value"), fn.lit(0))
    report = fn.col("topic").isin(*spec.report_topics)
    return records.select(
        "topic",
        "partition",
        "offset",
        (fn.unix_millis("timestamp") / fn.lit(1000.0)).alias("time_s"),
        fn.when(~report, fn.col("key")).alias("key"),
        size.cast("long").alias("size_bytes"),
        # Bytes that are no text become replacement characters, and then no report.
        fn.when(report, fn.col("value").cast("string")).alias("record"),
    )


def facts(slim_records: DataFrame, heads: Heads, clock_s: float, spec: TelemetrySpec) -> DataFrame:
    """FACTS of the records; `clock_s` only tells a time in the future from a believable one."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return slim_records.mapInArrow(fact_batches(heads, clock_s, spec), from_arrow_schema(FACTS))


def fact_batches(
    heads: Heads, clock_s: float, spec: TelemetrySpec
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        logs: dict[tuple[str, int], _Log] = {}
        for batch in batches:
            for topic, partition, rows in _by_partition(batch):
                log = logs.get((topic, partition))
                if log is None:
                    newest_s, next_offset = heads.get((topic, partition), (NOTHING_YET, 0))
                    log = logs[topic, partition] = _Log(topic, partition, newest_s, next_offset)
                log.check_order(rows)
                if topic in spec.report_topics:
                    log.add_reports(rows)
                else:
                    log.add_events(rows, clock_s + spec.max_ahead_s, spec)
        yield pa.RecordBatch.from_pylist([log.row() for log in logs.values()], schema=FACTS)

    return run


def _by_partition(batch: pa.RecordBatch) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """The batch cut where the partition changes."""
    if not len(batch):
        return
    topic, partition = batch.column("topic"), batch.column("partition")
    changes = pc.or_(pc.not_equal(topic[1:], topic[:-1]), pc.not_equal(partition[1:], partition[:-1]))
    edges = [0, *(np.flatnonzero(changes.to_numpy(zero_copy_only=False)) + 1).tolist(), len(batch)]
    for first, last in pairwise(edges):
        yield topic[first].as_py(), partition[first].as_py(), batch.slice(first, last - first)


class _Log:
    """One partition's part of the batch."""

    def __init__(self, topic: str, partition: int, newest_s: float, next_offset: int) -> None:
        self._topic, self._partition = topic, partition
        self._newest_s, self._next_offset = newest_s, next_offset
        self._seconds: list[dict[str, Any]] = []
        self._keys: dict[int, frequent_strings_sketch] = {}
        self._bad: list[dict[str, Any]] = []
        self._reports: list[dict[str, Any]] = []

    def check_order(self, rows: pa.RecordBatch) -> None:
        offset = rows.column("offset").to_numpy()
        if offset[0] < self._next_offset or (np.diff(offset) <= 0).any():
            raise InputError(
                f"{self._topic}-{self._partition} came out of order at offset {int(offset[0])}, expected "
                f"{self._next_offset} or later; a topic that was created anew needs a new lake"
            )
        self._next_offset = int(offset[-1]) + 1

    def add_reports(self, rows: pa.RecordBatch) -> None:
        # Few, and their order among consumers matters: they are read where the state is.
        self._reports += rows.select(["offset", "record"]).to_pylist()

    def add_events(self, rows: pa.RecordBatch, latest_s: float, spec: TelemetrySpec) -> None:
        time_s = rows.column("time_s").to_numpy(zero_copy_only=False)
        time_s = np.where(time_s >= 0, time_s, np.nan)
        order = in_order(time_s, self._newest_s, delay_s=spec.delay_s, latest_s=latest_s)
        self._newest_s = order.newest_s
        good = ~(np.isnan(time_s) | order.ahead | order.late)
        offset = rows.column("offset").to_numpy()
        if not good.all():
            self._add_bad(offset, time_s, order, good)
        if good.any():
            self._add_seconds(time_s[good], order.before_s[good], _sizes(rows)[good], offset[good])
            self._add_keys(rows.column("key"), time_s, good, spec.window_s)

    def row(self) -> dict[str, Any]:
        return {
            "topic": self._topic,
            "partition": self._partition,
            "newest_s": self._newest_s,
            "next_offset": self._next_offset,
            "seconds": self._seconds,
            "keys": [{"end_s": end_s, "sketch": sketch.serialize()} for end_s, sketch in self._keys.items()],
            "bad": self._bad,
            "reports": self._reports,
        }

    def _add_bad(self, offset: IntArray, time_s: FloatArray, order: InOrder, good: BoolArray) -> None:
        for i in np.flatnonzero(~good).tolist():
            unknown = bool(np.isnan(time_s[i]))
            problem = NO_TIME if unknown else AHEAD if order.ahead[i] else LATE
            self._bad.append(
                {"offset": int(offset[i]), "time_s": None if unknown else float(time_s[i]), "problem": problem}
            )

    def _add_seconds(self, time_s: FloatArray, before_s: FloatArray, size: IntArray, offset: IntArray) -> None:
        second, where = np.unique(np.floor(time_s).astype(np.int64), return_inverse=True)
        known = before_s > NOTHING_YET
        gap_s = np.where(known, np.maximum(time_s - before_s, 0.0), 0.0)
        next_offset = np.zeros(len(second), dtype=np.int64)
        np.maximum.at(next_offset, where, offset + 1)
        columns = (
            second,
            np.bincount(where),
            np.bincount(where, weights=size).astype(np.int64),
            np.bincount(where, weights=known).astype(np.int64),
            np.bincount(where, weights=gap_s),
            np.bincount(where, weights=gap_s * gap_s),
            next_offset,
        )
        names = ("second", "events", "bytes", "gaps", "gap_s", "gap_s2", "next_offset")
        rows = zip(*(column.tolist() for column in columns), strict=True)
        self._seconds += [dict(zip(names, row, strict=True)) for row in rows]

    def _add_keys(self, key: pa.Array, time_s: FloatArray, good: BoolArray, window_s: int) -> None:
        keyed = good & key.is_valid().to_numpy(zero_copy_only=False)
        if not keyed.any():
            return
        end_s = (np.floor(time_s[keyed] / window_s).astype(np.int64) + 1) * window_s
        table = pa.table({"end_s": end_s, "key": key.filter(pa.array(keyed))})
        counted = table.group_by(["end_s", "key"]).aggregate([("key", "count")])
        for row in counted.to_pylist():
            sketch = self._keys.get(row["end_s"])
            if sketch is None:
                sketch = self._keys[row["end_s"]] = frequent_strings_sketch(KEYS_LG_SIZE)
            sketch.update(readable(row["key"]), row["key_count"])


def readable(key: bytes) -> str:
    """A key as text: its own where it is text, else its bytes in hex."""
    try:
        return key.decode()
    except UnicodeDecodeError:
        return f"0x{key.hex()}"


def _sizes(rows: pa.RecordBatch) -> IntArray:
    sizes: IntArray = rows.column("size_bytes").to_numpy()
    return sizes
