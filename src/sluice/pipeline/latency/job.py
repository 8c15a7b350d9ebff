"""Latencies on Spark: a task a consumer, no shuffle, no sort."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import DoubleType, LongType, StructField, StructType

from sluice.errors import InputError
from sluice.pipeline.latency.consumer import EVENT_SCHEMA, PART_SCHEMA, LatencySpec, event_batches, part_batches
from sluice.pipeline.latency.history import Segment, Work, work_of
from sluice.pipeline.publish import absolute, exists
from sluice.simulate import Latencies
from sluice.theory.histogram import BUCKETS

QUANTILES = (0.5, 0.95, 0.99)
_SUMMARY = (
    StructField("events", LongType()),
    StructField("late_events", LongType()),
    StructField("sla_ratio", DoubleType()),
    StructField("latency_mean_s", DoubleType()),
    StructField("latency_max_s", DoubleType()),
    *(StructField(f"latency_p{ratio * 100:g}_s", DoubleType()) for ratio in QUANTILES),
)
_WORK = (
    "task int, consumer string, "
    "segments array<struct<consumer: string, partition: int, from_event: long, to_event: long, readable_s: double>>"
)

Compute = Callable[[str, Work, LatencySpec], Iterator[pa.RecordBatch]]


def event_latencies(session: SparkSession, events: str, history: Sequence[Segment], spec: LatencySpec) -> DataFrame:
    """`consumer, partition, event, time_s, latency_s`: every event of the layout at `events`."""
    return _by_consumer(session, events, history, spec, event_batches, EVENT_SCHEMA)


def latency_parts(session: SparkSession, events: str, history: Sequence[Segment], spec: LatencySpec) -> DataFrame:
    """Counts and histograms by consumer and bin of arrival time, to be added up (`summarised`)."""
    return _by_consumer(session, events, history, spec, part_batches, PART_SCHEMA)


def summarised(parts: DataFrame, *by: str) -> DataFrame:
    """Counts, mean, maximum and quantiles of the parts with equal `by`; quantiles are within 0.8 %."""
    schema = StructType([*(parts.schema[name] for name in by), *_SUMMARY])

    def one(mine: pa.Table) -> pa.Table:
        return pa.Table.from_pylist([_summary(by, mine)])

    return parts.groupBy(*by).applyInArrow(one, schema)


def by_bin_and_consumer(parts: DataFrame) -> DataFrame:
    """`summarised` by bin (consumer is NULL) and by consumer and bin: a bin is gathered once for both."""
    schema = StructType([parts.schema["consumer"], parts.schema["bin"], *_SUMMARY])

    def one(mine: pa.Table) -> pa.Table:
        rows = [{"consumer": None, **_summary(("bin",), mine)}]
        for consumer in pc.unique(mine.column("consumer")):
            own = mine.filter(pc.equal(mine.column("consumer"), consumer))
            rows.append(_summary(("consumer", "bin"), own))
        return pa.Table.from_pylist(rows, to_arrow_schema(schema))

    return parts.groupBy("bin").applyInArrow(one, schema)


def _by_consumer(
    session: SparkSession,
    events: str,
    history: Sequence[Segment],
    spec: LatencySpec,
    compute: Compute,
    schema: pa.Schema,
) -> DataFrame:
    root = absolute(events)
    if not exists(root):
        raise InputError(f"events {events} do not exist; make them with `sluice pipeline traces`")
    work = work_of(history)
    if not work:
        raise InputError("the assignment history is empty; nobody read anything")
    # One task a consumer: nothing is shared between them, so nothing has to be shuffled.
    rows = [(i, w.consumer, [tuple(s) for s in w.segments]) for i, w in enumerate(work)]
    frame = session.createDataFrame(rows, _WORK).repartitionById(len(rows), fn.col("task"))
    return frame.mapInArrow(partial(_run, root, spec, compute), from_arrow_schema(schema))


def _run(root: str, spec: LatencySpec, compute: Compute, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            yield from compute(root, Work(row["consumer"], tuple(Segment(**s) for s in row["segments"])), spec)


def _summary(by: Sequence[str], parts: pa.Table) -> dict[str, Any]:
    counts = np.zeros(BUCKETS, dtype=np.int64)
    # Within one part a bucket comes once, over several parts more often.
    for column, events in zip(parts.column("bucket").chunks, parts.column("bucket_events").chunks, strict=True):
        np.add.at(counts, column.flatten().to_numpy(), events.flatten().to_numpy())
    events, late = (int(pc.sum(parts.column(name)).as_py()) for name in ("events", "late_events"))
    largest_s = float(pc.max(parts.column("latency_max_s")).as_py())
    latencies = Latencies(None, counts, largest_s)
    return {name: parts.column(name)[0].as_py() for name in by} | {
        "events": events,
        "late_events": late,
        "sla_ratio": 1.0 - late / events,
        "latency_mean_s": float(pc.sum(parts.column("latency_sum_s")).as_py()) / events,
        "latency_max_s": largest_s,
        **{f"latency_p{ratio * 100:g}_s": latencies.quantile_s(ratio) for ratio in QUANTILES},
    }
