"""What every reader of raw logs does, and the frame it gives."""

from collections.abc import Sequence
from typing import Protocol

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.types import BinaryType, DoubleType, LongType, StringType, StructField, StructType

from sluice.errors import InputError
from sluice.pipeline.failures import plain_failures

RECORDS = StructType(
    [
        StructField("file", StringType()),
        # Order inside a file: where its split begins, then the row in it.
        StructField("block", LongType()),
        StructField("row", LongType()),
        StructField("time_s", DoubleType()),
        StructField("events", DoubleType()),
        StructField("key", BinaryType()),
        StructField("size_bytes", LongType()),
        # Why the row cannot be used; NULL for a good one.
        StructField("problem", StringType()),
        StructField("record", StringType()),
    ]
)
"""One row a record of the log: `events` events from `time_s` on (1 for a log of events)."""

NO_TIME = "time cannot be read"
NO_COUNT = "count is no number"
NEGATIVE_COUNT = "count is negative"
NEGATIVE_SIZE = "size is negative"
BACKWARDS = "clock goes backwards"
TORN = "record is cut off"
MALFORMED = "record cannot be parsed"


class Reader(Protocol):
    """A format of raw logs."""

    @property
    def step_s(self) -> float | None:
        """How long the events of one record are spread over; None when each record is one event."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether a file is written in the order of time, so that a step back is a fault."""
        ...

    @property
    def keyed(self) -> bool:
        """Whether its events may have keys."""
        ...

    def read(self, session: SparkSession, paths: Sequence[str]) -> DataFrame:
        """The logs as RECORDS; rows that cannot be used carry their problem."""
        ...


def read_lines(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Every line that is not blank, with its place; a byte-order mark is no part of the first one."""
    with plain_failures(f"trace {', '.join(paths)}"):
        lines = session.read.text(list(paths))
    return lines.select(
        fn.col("_metadata.file_name").alias("file"),
        fn.col("_metadata.file_block_start").alias("block"),
        fn.monotonically_increasing_id().alias("row"),
        fn.regexp_replace("value", "^\ufeff", "").alias("record"),
    ).where(fn.trim("record") != "")


def first_line(session: SparkSession, paths: Sequence[str]) -> str:
    """The first line of the first file, to tell a header from data."""
    with plain_failures(f"trace {', '.join(paths)}"):
        row = session.read.text(paths[0]).where(fn.trim("value") != "").head()
    if row is None:
        raise InputError(f"trace {paths[0]} is empty; give a file with at least one record")
    return str(row[0]).removeprefix("\ufeff")


def as_records(frame: DataFrame, **columns: Column) -> DataFrame:
    """The frame as RECORDS: the columns given, those it has, NULL for the rest."""
    known = set(frame.columns)
    return frame.select(
        *(
            columns.get(field.name, fn.col(field.name) if field.name in known else fn.lit(None))
            .cast(field.dataType)
            .alias(field.name)
            for field in RECORDS
        )
    )


def first_problem(*checks: tuple[str, Column]) -> Column:
    """The name of the first check that finds something, else NULL."""
    return fn.coalesce(*(fn.when(found, fn.lit(name)) for name, found in checks))


def epoch_s(text: Column, *, unit_s: float = 1.0) -> Column:
    """Seconds since 1970 from a number (in units of `unit_s`) or from a date and time (UTC); NULL for anything else."""
    stamp = fn.unix_micros(fn.try_to_timestamp(text)) / fn.lit(1e6)
    number = text.try_cast("double")
    return fn.coalesce(fn.when(~fn.isnan(number), number * fn.lit(unit_s)), stamp)


def not_finite(number: Column) -> Column:
    """NULL, NaN or infinite."""
    return number.isNull() | fn.isnan(number) | (fn.abs(number) == fn.lit(float("inf")))
