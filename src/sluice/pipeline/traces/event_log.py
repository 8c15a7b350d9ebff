"""Logs of events: a time, a key and a size each."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from sluice.errors import InputError
from sluice.pipeline.traces.columns import LogFormat, event_records, key_column, read_columns, time_column, type_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLog:
    """Column names are the user's; key and size may be missing, the time may not."""

    format: LogFormat
    time_column: str = "timestamp"
    key_column: str = "key"
    size_column: str = "bytes"
    time_unit_s: float = 1.0
    """What a time that is a number counts: 1 seconds, 1e-3 milliseconds."""
    ordered: bool = True
    step_s: float | None = field(default=None, init=False)
    keyed: bool = field(default=True, init=False)

    def read(self, session: SparkSession, paths: Sequence[str]) -> DataFrame:
        frame = read_columns(session, paths, self.format, (self.time_column, self.key_column, self.size_column))
        if type_of(frame, self.time_column) is None:
            raise InputError(f"trace {paths[0]} has no column {self.time_column!r}; name the column of the time")
        has_size = type_of(frame, self.size_column) is not None
        return event_records(
            frame,
            time=time_column(frame, self.time_column, unit_s=self.time_unit_s),
            key=key_column(frame, self.key_column),
            size=fn.col(f"data.`{self.size_column}`").try_cast("long") if has_size else fn.lit(None),
        )
