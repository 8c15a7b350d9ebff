"""Events for the latency benchmark, in the layout of `sluice pipeline traces`: a folder a partition, in order of time.

The events of a partition are cut into files of equal length, so that a smaller run is the first files of a larger one
(as links: no byte is written twice).
"""

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sluice.pipeline.latency.history import TO_THE_END, Segment

PARTITIONS = 8
CONSUMERS = 4
FILE_EVENTS = 1_250_000
"""Of one partition: 10 M events are one file of each."""
PARTITION_EPS = 500.0
SERVICE_S = 0.00085
"""Two partitions a consumer: 85 % busy, so that queues are long at times and empty at times."""
_ROW_GROUP_EVENTS = 1 << 18


def write_events(folder: Path, files: int) -> None:
    """`files` files of each partition; times are Poisson, service times exponential."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(partial(_write_partition, folder, files), range(PARTITIONS)))


def link_events(folder: Path, whole: Path, files: int) -> None:
    """The first `files` files of each partition, as a layout of their own."""
    for source in sorted(whole.glob("partition=*")):
        mine = folder / source.name
        mine.mkdir(parents=True)
        for file in sorted(source.glob("*.parquet"))[:files]:
            os.link(file, mine / file.name)


def history(files: int) -> tuple[Segment, ...]:
    """Who read what: halfway every partition went over to the next consumer, after a pause of 3 s."""
    half = files * FILE_EVENTS // 2
    pause_until_s = half / PARTITION_EPS + 3.0
    return tuple(
        segment
        for p in range(PARTITIONS)
        for segment in (
            Segment(f"c{p % CONSUMERS}", p, 0, half, 0.0),
            Segment(f"c{(p + 1) % CONSUMERS}", p, half, TO_THE_END, pause_until_s),
        )
    )


def _write_partition(folder: Path, files: int, partition: int) -> None:
    random = np.random.default_rng([7, partition])
    place = folder / f"partition={partition}"
    place.mkdir(parents=True)
    last_s = 0.0
    for number in range(files):
        time_s = last_s + np.cumsum(random.exponential(1 / PARTITION_EPS, FILE_EVENTS))
        last_s = time_s[-1]
        first = number * FILE_EVENTS
        table = pa.table(
            {
                "time_s": time_s,
                "sequence": np.arange(first, first + FILE_EVENTS),
                "service_s": random.exponential(SERVICE_S, FILE_EVENTS),
            }
        )
        pq.write_table(
            table,
            place / f"part-{number:05}.parquet",
            row_group_size=_ROW_GROUP_EVENTS,
            use_dictionary=False,
            column_encoding={"time_s": "PLAIN", "sequence": "DELTA_BINARY_PACKED", "service_s": "PLAIN"},
            compression="snappy",
        )
