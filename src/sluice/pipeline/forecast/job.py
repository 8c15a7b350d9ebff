"""Training on Spark: a group of rows a partition, all partitions side by side."""

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.pandas.types import from_arrow_schema

from sluice.errors import InputError
from sluice.pipeline.failures import plain_failures
from sluice.pipeline.forecast.train import ForecastSpec, trained
from sluice.pipeline.publish import published
from sluice.pipeline.telemetry.lake import read_lake

MODELS = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("step_s", pa.int32()),
        ("model", pa.string()),
        ("horizon", pa.int32()),
        ("lags", pa.list_(pa.int32())),
        ("weights", pa.list_(pa.float64())),
        ("intercept", pa.float64()),
        ("steps", pa.int64()),
        ("mae_eps", pa.float64()),
        ("naive_mae_eps", pa.float64()),
        ("seasonal_mae_eps", pa.float64()),
        ("skill", pa.float64()),
    ]
)
"""One row a partition: the model that `sluice.assembly.forecast` loads, and how it did against the simple ones."""
_PARTITION = ("group", "topic", "partition")


def stepped(seconds: DataFrame, step_s: int) -> DataFrame:
    """`group, topic, partition, step, events` from the lake's seconds."""
    step = fn.floor(fn.col("second") / fn.lit(step_s)).alias("step")
    return seconds.groupBy(*_PARTITION, step).agg(fn.sum("events").alias("events"))


def models(steps: DataFrame, spec: ForecastSpec) -> DataFrame:
    """MODELS, each trained on its own partition's steps."""

    def train(mine: pa.Table) -> pa.Table:
        row = {name: mine.column(name)[0].as_py() for name in _PARTITION} | {"step_s": spec.step_s}
        return pa.Table.from_pylist([row | trained(_series(mine, spec.step_s), spec)], schema=MODELS)

    return steps.groupBy(*_PARTITION).applyInArrow(train, from_arrow_schema(MODELS))


def write_models(
    session: SparkSession, lake: str, out: str, spec: ForecastSpec, *, overwrite: bool = False
) -> DataFrame:
    """Train on everything the lake holds and publish the table."""
    with published(out, overwrite=overwrite) as draft, plain_failures(f"lake {lake}"):
        seconds = read_lake(session, lake, "seconds")
        made = seconds.transform(stepped, spec.step_s).transform(models, spec)
        made.coalesce(1).write.mode("overwrite").parquet(draft)
        if session.read.schema(made.schema).parquet(draft).isEmpty():
            raise InputError(f"lake {lake} has no seconds to learn from; let `sluice pipeline telemetry` fill it first")
    return session.read.schema(made.schema).parquet(out)


def _series(mine: pa.Table, step_s: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Events per second, step by step; the first and the last step may be cut and are left out, a gap is zero."""
    step = mine.column("step").to_numpy()
    series = np.zeros(int(step.max() - step.min()) + 1)
    series[step - step.min()] = mine.column("events").to_numpy()
    return series[1:-1] / step_s
