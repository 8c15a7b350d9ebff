"""Writes events into a Parquet table per topic: a batch of 5 MB, or what has come within a second.

The consumer of the data-lake system: gather → write → take note of assignment changes → acknowledge. A batch that was
written and not committed before a crash is written again; rows are unique by partition and offset.
"""

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sluice.sdk import Batch, Event, run_batches

LAKE = Path(os.environ.get("LAKE", "out/lake"))
BATCH_SIZE = int(os.environ.get("BATCH_SIZE", "5000000"))
WAIT_TIME_SECS = float(os.environ.get("WAIT_TIME_SECS", "1.0"))
SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("ms", tz="UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
    ]
)


def write(events: Sequence[Event]) -> None:
    by_topic: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_topic[event.partition.topic].append(event)
    for topic, rows in by_topic.items():
        table = pa.Table.from_pylist(
            [
                {
                    "partition": row.partition.number,
                    "offset": row.offset,
                    "timestamp": round(row.timestamp_s * 1000),
                    "key": row.key,
                    "value": row.value,
                }
                for row in rows
            ],
            schema=SCHEMA,
        )
        folder = LAKE / topic
        folder.mkdir(parents=True, exist_ok=True)
        # The same batch written twice has the same name, and a reader never sees half a file.
        name = f"{rows[0].partition.number}-{rows[0].offset}-{len(rows)}"
        pq.write_table(table, folder / f".{name}.tmp", compression="zstd")
        (folder / f".{name}.tmp").replace(folder / f"{name}.parquet")


if __name__ == "__main__":
    run_batches(write, batch=Batch(max_events=1_000_000, max_bytes=BATCH_SIZE, max_wait_s=WAIT_TIME_SECS))
