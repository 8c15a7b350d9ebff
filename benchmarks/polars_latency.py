"""The latency job on Polars, as one would write it there: the same files and history in, the same summary out.

The recurrence finish_i = max(ready_i, finish_{i-1}) + service_i has a closed form in running sums and maxima,
finish_i = S_i + max over j <= i of (ready_j - S_{j-1}) with S the running sum of service times: no loop in Python.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sluice.pipeline.latency.history import TO_THE_END, Segment


def write_summary(events: Path, history: Sequence[Segment], out: Path, *, objective_s: float, bin_s: float) -> int:
    """Write the summary by minute and by consumer and minute; returns the number of events."""
    served = pl.concat([_read_by(events, segment) for segment in history])
    served = served.sort("consumer", "ready_s", "sequence", "partition")
    total_s = pl.col("service_s").cum_sum().over("consumer")
    served = served.with_columns(total_s=total_s)
    idle_s = (pl.col("ready_s") - pl.col("total_s") + pl.col("service_s")).cum_max().over("consumer")
    served = served.select(
        "consumer",
        latency_s=pl.col("total_s") + idle_s - pl.col("time_s"),
        bin=(pl.col("time_s") / bin_s).floor().cast(pl.Int64),
    )
    frame = served.collect()
    out.mkdir(parents=True)
    for name, by in (("by_bin", ["bin"]), ("by_consumer", ["consumer", "bin"])):
        rows = frame.group_by(by).agg(*_summary(objective_s)).with_columns(pl.col(pl.Categorical).cast(pl.String))
        rows.sort(by).write_parquet(out / f"{name}.parquet")
    return len(frame)


def _read_by(events: Path, segment: Segment) -> pl.LazyFrame:
    files = pl.scan_parquet(events / f"partition={segment.partition}" / "*.parquet", hive_partitioning=False)
    to_the_end = segment.to_event == TO_THE_END
    mine = files.slice(segment.from_event, None if to_the_end else segment.to_event - segment.from_event)
    return mine.select(
        "time_s",
        "sequence",
        "service_s",
        ready_s=pl.max_horizontal(pl.col("time_s"), pl.lit(segment.readable_s)),
        consumer=pl.lit(segment.consumer, pl.Categorical),
        partition=pl.lit(segment.partition, pl.Int32),
    )


def _summary(objective_s: float) -> list[pl.Expr]:
    latency_s = pl.col("latency_s")
    return [
        pl.len().alias("events"),
        (latency_s > objective_s + 1e-9).sum().alias("late_events"),
        latency_s.mean().alias("latency_mean_s"),
        latency_s.max().alias("latency_max_s"),
        *(latency_s.quantile(q, "higher").alias(f"latency_p{q * 100:g}_s") for q in (0.5, 0.95, 0.99)),
    ]
