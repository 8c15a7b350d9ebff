"""How far each partition's log has come, and which buckets of time are over by it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from sluice.model.values import BoolArray, FloatArray
from sluice.pipeline.telemetry.order import NOTHING_YET

HEADS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("newest_s", pa.float64()),
        ("next_offset", pa.int64()),
    ]
)
"""The newest time of each partition's good records, and the offset that comes next."""

Log = tuple[str, int]
"""Topic and partition."""
Heads = dict[Log, tuple[float, int]]
"""HEADS by partition: newest time, next offset."""


@dataclass(frozen=True, slots=True)
class Watermarks:
    """The partitions' watermarks before and after a batch."""

    before: Heads
    after: Heads
    delay_s: float

    def closed_now(self, log: Log, end_s: float) -> bool:
        """The watermark has passed a bucket's end with this batch, not earlier."""
        return self._at(self.before, log) < end_s <= self._at(self.after, log)

    def is_open(self, log: Log, end_s: float) -> bool:
        return end_s > self._at(self.after, log)

    def all_closed_now(self, buckets: pd.DataFrame, end_s: "pd.Series[Any]") -> BoolArray:
        """`closed_now` for every row; the frame has columns topic and partition."""
        end = end_s.to_numpy(dtype=np.float64)
        closed: BoolArray = (self._of(self.before, buckets) < end) & (end <= self._of(self.after, buckets))
        return closed

    def all_needed(self, buckets: pd.DataFrame, end_s: "pd.Series[Any]", keep_s: float) -> BoolArray:
        """Open, or over for less than `keep_s` seconds of the log's time."""
        needed: BoolArray = end_s.to_numpy(dtype=np.float64) > self._of(self.after, buckets) - keep_s
        return needed

    def _at(self, heads: Heads, log: Log) -> float:
        return heads.get(log, (NOTHING_YET, 0))[0] - self.delay_s

    def _of(self, heads: Heads, buckets: pd.DataFrame) -> FloatArray:
        logs = zip(buckets["topic"].tolist(), buckets["partition"].tolist(), strict=True)
        return np.array([self._at(heads, log) for log in logs], dtype=np.float64)


def heads_of(table: pa.Table | None) -> Heads:
    rows = [] if table is None else table.to_pylist()
    return {(row["topic"], row["partition"]): (row["newest_s"], row["next_offset"]) for row in rows}


def table_of_heads(heads: Heads) -> pa.Table:
    rows = [dict(zip(HEADS.names, (*log, *head), strict=True)) for log, head in sorted(heads.items())]
    return pa.Table.from_pylist(rows, schema=HEADS)
