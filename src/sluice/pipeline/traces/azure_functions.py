"""Azure Functions invocations: a line a function and a day, a column a minute."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from sluice.errors import InputError
from sluice.pipeline.traces.base import (
    MALFORMED,
    NEGATIVE_COUNT,
    NO_COUNT,
    as_records,
    first_line,
    first_problem,
    not_finite,
    read_lines,
)

MINUTES_A_DAY = 1440
DAY_S = 86_400.0
FUNCTION = "HashFunction"


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureFunctions:
    """The function is the key. The day comes from the file's name (`….d03.csv`), day 1 without one."""

    step_s: float = field(default=60.0, init=False)
    ordered: bool = field(default=False, init=False)
    keyed: bool = field(default=True, init=False)

    def read(self, session: SparkSession, paths: Sequence[str]) -> DataFrame:
        header = first_line(session, paths)
        names = [name.strip() for name in header.split(",")]
        if FUNCTION not in names or "1" not in names:
            raise InputError(
                f"trace {paths[0]} is no Azure Functions invocation file: "
                f"its header lacks {FUNCTION} or the minutes 1 to {MINUTES_A_DAY}"
            )
        first, last = names.index("1"), len(names)
        lines = read_lines(session, paths).where(fn.trim("record") != header.strip())
        parts = fn.split("record", ",")
        whole = fn.size(parts) == fn.lit(last)
        day = fn.coalesce(fn.regexp_extract("file", r"\.d(\d+)\.", 1).try_cast("int"), fn.lit(1))
        minutes = fn.slice(parts, first + 1, last - first)
        # A line of the wrong length is one bad record, not 1440; a minute without calls is no record at all.
        opened = lines.select(
            "*",
            fn.get(parts, fn.lit(names.index(FUNCTION))).alias("key"),
            ((day - 1) * fn.lit(DAY_S)).alias("day_s"),
            whole.alias("whole"),
            fn.posexplode(fn.when(whole, minutes).otherwise(fn.array(fn.lit("0")))).alias("minute", "count"),
        ).where(~fn.col("whole") | (fn.trim("count") != "0"))
        events = fn.trim("count").try_cast("double")
        problem = first_problem(
            (MALFORMED, ~fn.col("whole")), (NO_COUNT, not_finite(events)), (NEGATIVE_COUNT, events < 0)
        )
        return as_records(
            opened,
            time_s=fn.col("day_s") + fn.col("minute") * fn.lit(60.0),
            events=events,
            problem=problem,
        )
