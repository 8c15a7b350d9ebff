"""Events on disk: a folder a partition, in the order of time, so that later passes need neither shuffle nor sort."""

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as fn

LAYOUT = "time_s double, sequence long, key binary, size_bytes long, partition int"
"""`partition` is the name of a folder, so it comes last."""
EVENT_COLUMNS = ("time_s", "sequence", "key", "size_bytes")
ROW_GROUP_BYTES = 16 << 20


def in_layout(events: DataFrame, partitions: int) -> DataFrame:
    """One task a partition, sorted by time; among equal times by `sequence`, then as the log had them."""
    if "key" not in events.columns:
        events = events.withColumn("key", fn.lit(None).cast("binary"))
    placed = events.repartitionById(partitions, fn.col("partition"))
    # A log's clock is often coarse. Its k-th event of an instant on any partition is number k of that instant: merged,
    # the partitions then take turns instead of one going first.
    tied = Window.partitionBy("partition", "time_s").orderBy("file", "block", "row")
    ordered = placed.withColumn("sequence", fn.coalesce("sequence", fn.row_number().over(tied).cast("long") - 1))
    return ordered.sortWithinPartitions("partition", "time_s", "sequence", "file", "block", "row", "key").select(
        "partition", *EVENT_COLUMNS
    )


def read_layout(session: SparkSession, folder: str) -> DataFrame:
    return session.read.schema(LAYOUT).parquet(folder)


def write_layout(laid: DataFrame, folder: str) -> None:
    """Write events that are in the layout already (`in_layout`, or a generator's own)."""
    (
        laid.write.partitionBy("partition")
        # Small row groups: a pass holds one of each partition it merges in memory.
        .option("parquet.block.size", str(ROW_GROUP_BYTES))
        # Times hardly repeat: a dictionary of them is tried, thrown away, and costs.
        .option("parquet.enable.dictionary#time_s", "false")
        .parquet(folder)
    )
