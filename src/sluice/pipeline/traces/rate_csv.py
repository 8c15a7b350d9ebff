"""Rates as text: one number a line, or a time and a number, for each second or minute."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as fn

from sluice.pipeline.traces.base import (
    NEGATIVE_COUNT,
    NO_COUNT,
    NO_TIME,
    as_records,
    epoch_s,
    first_line,
    first_problem,
    not_finite,
    read_lines,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCsv:
    """`[time,]count` a line, a header or none. Steps that are missing have no events."""

    step_s: float = 1.0
    ordered: bool = True
    keyed: bool = field(default=False, init=False)

    def read(self, session: SparkSession, paths: Sequence[str]) -> DataFrame:
        top = first_line(session, paths)
        header = top if _number(top.rpartition(",")[2]) is None else None
        lines = read_lines(session, paths)
        if header is not None:
            lines = lines.where(fn.trim("record") != header.strip())
        parts = fn.split("record", ",")
        count = fn.trim(fn.get(parts, fn.size(parts) - 1)).try_cast("double")
        if "," in top:
            time = epoch_s(fn.trim(fn.get(parts, fn.lit(0))))
        else:
            # Without times the place in the file is the time. Files of rates are small: a window each costs nothing.
            order = Window.partitionBy("file").orderBy("block", "row")
            time = (fn.row_number().over(order) - 1) * fn.lit(self.step_s)
        counted = lines.select("*", time.alias("time_s"), count.alias("events"))
        problem = first_problem(
            (NO_TIME, not_finite(fn.col("time_s"))),
            (NO_COUNT, not_finite(fn.col("events"))),
            (NEGATIVE_COUNT, fn.col("events") < 0),
        )
        return as_records(counted, problem=problem)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
