"""Logs that have named columns (CSV, JSON lines, Parquet) as one frame, each row with its place and its own text."""

from collections.abc import Sequence
from enum import StrEnum

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.types import (
    DataType,
    DateType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from sluice.errors import InputError
from sluice.pipeline.failures import plain_failures
from sluice.pipeline.traces.base import (
    MALFORMED,
    NEGATIVE_SIZE,
    NO_TIME,
    as_records,
    epoch_s,
    first_line,
    first_problem,
    not_finite,
    read_lines,
)

_BROKEN = "_broken"
_PERMISSIVE = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _BROKEN}


class LogFormat(StrEnum):
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def read_columns(session: SparkSession, paths: Sequence[str], kind: LogFormat, wanted: Sequence[str]) -> DataFrame:
    """`file, block, row, record, malformed`, and of the columns `wanted` those the log has in the struct `data`."""
    if kind is LogFormat.PARQUET:
        return _parquet(session, paths, wanted)
    top = first_line(session, paths)
    lines = read_lines(session, paths)
    if kind is LogFormat.JSON:
        # Fields that a line lacks are NULL, so what the log has need not be known beforehand.
        schema = StructType([StructField(name, StringType()) for name in (*wanted, _BROKEN)])
        return _parsed(lines, fn.from_json("record", schema, _PERMISSIVE), wanted)
    names = [name.strip().strip('"') for name in top.split(",")]
    # Column by position, whatever its name: a name may hold anything, also twice.
    places = ", ".join([*(f"c{i} STRING" for i in range(len(names))), f"{_BROKEN} STRING"])
    row = fn.from_csv("record", places, _PERMISSIVE)
    found = [name for name in wanted if name in names]
    data = fn.struct(*(row[f"c{names.index(name)}"].alias(name) for name in found), row[_BROKEN].alias(_BROKEN))
    return _parsed(lines.where(fn.trim("record") != top.strip()), data, found, shown=names, path=paths[0])


def _parsed(
    lines: DataFrame, data: Column, found: Sequence[str], *, shown: Sequence[str] = (), path: str = ""
) -> DataFrame:
    if not found:
        raise InputError(f"trace {path} has none of the columns looked for; it has {', '.join(shown)}")
    return lines.select("*", data.alias("data")).select(
        "*", (fn.col("data").isNull() | fn.col(f"data.{_BROKEN}").isNotNull()).alias("malformed")
    )


def _parquet(session: SparkSession, paths: Sequence[str], wanted: Sequence[str]) -> DataFrame:
    with plain_failures(f"trace {', '.join(paths)}"):
        frame = session.read.parquet(*paths)
    found = [name for name in wanted if name in frame.columns]
    if not found:
        raise InputError(f"trace {paths[0]} has none of the columns looked for; it has {', '.join(frame.columns)}")
    return frame.select(
        fn.col("_metadata.file_name").alias("file"),
        fn.lit(0).cast("long").alias("block"),
        fn.col("_metadata.row_index").alias("row"),
        fn.to_json(fn.struct(*(fn.col(f"`{name}`") for name in frame.columns))).alias("record"),
        fn.lit(False).alias("malformed"),
        fn.struct(*(fn.col(f"`{name}`").alias(name) for name in found)).alias("data"),
    )


def type_of(frame: DataFrame, name: str) -> DataType | None:
    """The type of a column of `data`; None when the log has no such column."""
    data = frame.schema["data"].dataType
    assert isinstance(data, StructType)
    return data[name].dataType if name in data.names else None


def time_column(frame: DataFrame, name: str, *, unit_s: float = 1.0) -> Column:
    """Seconds since 1970 from whatever type the log keeps its times in."""
    kind, column = type_of(frame, name), fn.col(f"data.`{name}`")
    if isinstance(kind, TimestampType | TimestampNTZType | DateType):
        return fn.unix_micros(column.cast("timestamp")) / fn.lit(1e6)
    if isinstance(kind, NumericType):
        return column.cast("double") * fn.lit(unit_s)
    return epoch_s(column, unit_s=unit_s)


def key_column(frame: DataFrame, name: str) -> Column:
    """The key's bytes: a text's own, a number's decimal digits (as producers send them)."""
    kind, column = type_of(frame, name), fn.col(f"data.`{name}`")
    if kind is None:
        return fn.lit(None)
    return column.cast("string").cast("binary") if isinstance(kind, NumericType) else column.cast("binary")


def event_records(
    frame: DataFrame, *, time: Column, key: Column, size: Column, wrong: Column | None = None
) -> DataFrame:
    """One event a record, with the checks that every log of events needs; `wrong` is a problem of the format's own."""
    problem = first_problem(
        (MALFORMED, fn.col("malformed")), (NO_TIME, not_finite(time)), (NEGATIVE_SIZE, fn.coalesce(size, fn.lit(0)) < 0)
    )
    if wrong is not None:
        problem = fn.coalesce(problem, wrong)
    return as_records(frame, time_s=time, key=key, size_bytes=size, events=fn.lit(1.0), problem=problem)
