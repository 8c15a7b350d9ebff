"""The latency job as a whole: computes, publishes, and says what came out."""

from collections.abc import Sequence
from typing import Any

from pyarrow.fs import FileSelector
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from sluice.errors import InputError
from sluice.pipeline.failures import plain_failures
from sluice.pipeline.latency.consumer import LatencySpec
from sluice.pipeline.latency.history import Segment
from sluice.pipeline.latency.job import by_bin_and_consumer, event_latencies, latency_parts, summarised
from sluice.pipeline.publish import file_system, published


def partition_count(events: str) -> int:
    """Partitions of a layout: one more than the highest number, since an idle one has no folder."""
    system, inner = file_system(events)
    found = system.get_file_info(FileSelector(inner, allow_not_found=True))
    numbers = [
        int(info.base_name.removeprefix("partition=")) for info in found if info.base_name.startswith("partition=")
    ]
    if not numbers:
        raise InputError(f"events {events} have no folders partition=N; make them with `sluice pipeline traces`")
    return max(numbers) + 1


def write_latencies(
    session: SparkSession,
    events: str,
    history: Sequence[Segment],
    spec: LatencySpec,
    out: str,
    *,
    per_event: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Publish `by_bin`, `by_consumer` and, if asked for, `events`; returns the whole run's row."""
    with published(out, overwrite=overwrite) as draft, plain_failures(f"events {events}"):
        parts_at = f"{draft}/parts"
        latency_parts(session, events, history, spec).write.parquet(parts_at)
        # Parts are few and small; read back, they are not computed once for each summary.
        parts = session.read.parquet(parts_at)
        # As many tasks as cores: the plan of a frame that is kept is not made smaller while it runs.
        cores = session.sparkContext.defaultParallelism
        both = parts.repartition(cores, "bin").transform(by_bin_and_consumer).persist()
        single = fn.col("consumer").isNotNull()
        both.where(~single).drop("consumer").sortWithinPartitions("bin").write.parquet(f"{draft}/by_bin")
        both.where(single).sortWithinPartitions("consumer", "bin").write.parquet(f"{draft}/by_consumer")
        both.unpersist()
        if per_event:
            event_latencies(session, events, history, spec).write.parquet(f"{draft}/events")
        whole = summarised(parts).collect()
        if not whole:
            raise InputError(f"events {events} hold nothing that the history says was read")
    return whole[0].asDict()
