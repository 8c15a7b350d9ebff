"""New York TLC trip records (yellow, green, for-hire; Parquet and the older CSV): a ride's start is an event."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from sluice.errors import InputError
from sluice.pipeline.traces.base import BACKWARDS
from sluice.pipeline.traces.columns import LogFormat, event_records, key_column, read_columns, time_column, type_of

PICKUP = (
    "tpep_pickup_datetime",
    "lpep_pickup_datetime",
    "pickup_datetime",
    "Pickup_datetime",
    "Pickup_date",
    "Trip_Pickup_DateTime",
)
DROPOFF = (
    "tpep_dropoff_datetime",
    "lpep_dropoff_datetime",
    "dropoff_datetime",
    "dropOff_datetime",
    "DropOff_datetime",
    "Trip_Dropoff_DateTime",
)
ZONE = ("PULocationID", "PUlocationID", "PULocationId")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taxi:
    """The zone a ride starts in is its key. Records are written when a ride ends, so their order means nothing."""

    format: LogFormat = LogFormat.PARQUET
    ordered: bool = field(default=False, init=False)
    step_s: float | None = field(default=None, init=False)
    keyed: bool = field(default=True, init=False)

    def read(self, session: SparkSession, paths: Sequence[str]) -> DataFrame:
        frame = read_columns(session, paths, self.format, (*PICKUP, *DROPOFF, *ZONE))
        pickup, dropoff, zone = (_first(frame, names) for names in (PICKUP, DROPOFF, ZONE))
        if pickup is None:
            raise InputError(f"trace {paths[0]} is no TLC trip record: none of {', '.join(PICKUP)} is a column of it")
        start = time_column(frame, pickup)
        wrong = fn.lit(None)
        if dropoff is not None:
            wrong = fn.when(time_column(frame, dropoff) < start, fn.lit(BACKWARDS))
        key = fn.lit(None) if zone is None else key_column(frame, zone)
        return event_records(frame, time=start, key=key, size=fn.lit(None), wrong=wrong)


def _first(frame: DataFrame, names: Sequence[str]) -> str | None:
    return next((name for name in names if type_of(frame, name) is not None), None)
