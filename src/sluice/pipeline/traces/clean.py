"""Good rows and bad ones, told apart and both kept."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as fn

from sluice.pipeline.traces.base import BACKWARDS


def flag_backward_clock(records: DataFrame, tolerance_s: float) -> DataFrame:
    """Mark rows whose time lies more than `tolerance_s` before the latest time that their file showed before them."""
    order = Window.partitionBy("file").orderBy("block", "row").rowsBetween(Window.unboundedPreceding, -1)
    latest_s = fn.max(fn.when(fn.col("problem").isNull(), fn.col("time_s"))).over(order)
    back = fn.col("problem").isNull() & (fn.col("time_s") < latest_s - fn.lit(tolerance_s))
    return records.withColumn("problem", fn.when(back, fn.lit(BACKWARDS)).otherwise(fn.col("problem")))


def usable(records: DataFrame) -> DataFrame:
    return records.where(fn.col("problem").isNull()).drop("problem", "record")


def quarantined(records: DataFrame) -> DataFrame:
    """The rows that cannot be used: where they stand, what is wrong, and their text."""
    return records.where(fn.col("problem").isNotNull()).select("file", "block", "row", "problem", "record")
