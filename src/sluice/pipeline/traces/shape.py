"""From the log's time and load to the workload's: slice, speed-up, peak, and single events.

Whatever is random here is a hash of the record's place and a seed: the same trace gives the same events on any cluster.
"""

from enum import StrEnum

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

_TWO_53 = float(1 << 53)


class Spread(StrEnum):
    """Where the events of one step of a rate stand in it."""

    EVEN = "even"
    BURST = "burst"
    RANDOM = "random"


def cut(records: DataFrame, start_s: float, stop_s: float | None) -> DataFrame:
    """What lies in [start_s, stop_s), its times counted from `start_s`."""
    inside = fn.col("time_s") >= fn.lit(start_s)
    if stop_s is not None:
        inside &= fn.col("time_s") < fn.lit(stop_s)
    return records.where(inside).withColumn("time_s", fn.col("time_s") - fn.lit(start_s))


def faster(records: DataFrame, speed_up: float) -> DataFrame:
    return records.withColumn("time_s", fn.col("time_s") / fn.lit(speed_up))


def scaled(records: DataFrame, ratio: float) -> DataFrame:
    return records.withColumn("events", fn.col("events") * fn.lit(ratio))


def load_per_bin(records: DataFrame, bin_s: float) -> DataFrame:
    """`bin, events`: the load of each bin of `bin_s` seconds that has any."""
    return records.groupBy(fn.floor(fn.col("time_s") / fn.lit(bin_s)).alias("bin")).agg(
        fn.sum("events").alias("events")
    )


def expand(records: DataFrame, step_s: float | None, spread: Spread, seed: int) -> DataFrame:
    """One row an event: `time_s, sequence, index, key, size_bytes, draw`.

    `sequence` orders events of the same time, `index` counts the events of a rate through (NULL for a log of events),
    `draw` is a random number in [0, 1) of the event's own.
    """
    if step_s is None:
        # Fractions of an event are settled by chance: counting them through would need all events in one place.
        chance = _uniform(seed, "file", "block", "row")
        count, first = fn.floor(fn.col("events") + chance), fn.lit(None).cast("long")
    else:
        # What rounding leaves over is carried to the next step, so that none is lost (a key each).
        order = Window.partitionBy("key").orderBy("time_s", "file", "block", "row")
        upto = fn.sum("events").over(order.rowsBetween(Window.unboundedPreceding, Window.currentRow))
        # The small term keeps sums of whole numbers whole in spite of floating point.
        records = records.withColumn("_upto", fn.floor(upto + fn.lit(1e-9)))
        records = records.withColumn("_first", fn.coalesce(fn.lag("_upto").over(order), fn.lit(0)))
        count, first = fn.col("_upto") - fn.col("_first"), fn.col("_first")
    events = (
        records.select("*", count.alias("_count"), first.alias("_index"))
        .where(fn.col("_count") > 0)
        .select("*", fn.explode(fn.sequence(fn.lit(0).cast("long"), fn.col("_count") - 1)).alias("sequence"))
        .select("*", _uniform(seed + 1, "file", "block", "row", "time_s", "key", "sequence").alias("draw"))
    )
    return events.select(
        (fn.col("time_s") + _within(step_s, spread)).alias("time_s"),
        # The order of a log's own rows breaks ties between its events.
        (fn.col("sequence") if step_s is not None else fn.lit(None).cast("long")).alias("sequence"),
        (fn.col("_index") + fn.col("sequence")).alias("index"),
        "key",
        "size_bytes",
        "draw",
        "file",
        "block",
        "row",
    )


def _within(step_s: float | None, spread: Spread) -> Column:
    if step_s is None:
        # The first copy of an event keeps its time; copies made by scaling follow within a second.
        return fn.when(fn.col("sequence") == 0, fn.lit(0.0)).otherwise(fn.col("draw"))
    share = (fn.col("sequence") + fn.lit(0.5)) / fn.col("_count")
    if spread is Spread.RANDOM:
        return fn.col("draw") * fn.lit(step_s)
    if spread is Spread.EVEN:
        return share * fn.lit(step_s)
    # One burst a second: a minute's events come in sixty bursts, a second's in one.
    return fn.floor(share * fn.lit(step_s))


def _uniform(seed: int, *columns: str) -> Column:
    """A number in [0, 1) that depends on nothing but the row and the seed."""
    return fn.pmod(fn.xxhash64(fn.lit(seed), *columns), fn.lit(1 << 53)) / fn.lit(_TWO_53)
