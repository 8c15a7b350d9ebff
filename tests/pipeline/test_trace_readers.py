"""Every format of logs gives the same kind of records, bad rows included."""

import gzip
import struct
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.testing import assertDataFrameEqual

from sluice.errors import InputError
from sluice.pipeline.traces.azure_functions import AzureFunctions
from sluice.pipeline.traces.base import (
    BACKWARDS,
    MALFORMED,
    NEGATIVE_COUNT,
    NEGATIVE_SIZE,
    NO_COUNT,
    NO_TIME,
    RECORDS,
    TORN,
    Reader,
)
from sluice.pipeline.traces.clean import flag_backward_clock
from sluice.pipeline.traces.columns import LogFormat
from sluice.pipeline.traces.event_log import EventLog
from sluice.pipeline.traces.rate_csv import RateCsv
from sluice.pipeline.traces.taxi import Taxi
from sluice.pipeline.traces.worldcup98 import WorldCup98

Expected = Sequence[tuple[float | None, float | None, bytes | None, int | None, str | None]]
NOON = datetime(2022, 9, 5, 12, 0, 0, tzinfo=UTC).timestamp()


def check(spark: SparkSession, reader: Reader, paths: Sequence[Path], expected: Expected) -> None:
    """Whole frames, in the order of the files' rows."""
    frame = reader.read(spark, [str(path) for path in paths])
    assert frame.schema.simpleString() == RECORDS.simpleString()
    assertDataFrameEqual(
        _in_file_order(frame),
        spark.createDataFrame(
            [(t, n, None if k is None else bytearray(k), s, p) for t, n, k, s, p in expected],
            "time_s double, events double, key binary, size_bytes long, problem string",
        ),
        checkRowOrder=True,
    )


def _in_file_order(frame: DataFrame) -> DataFrame:
    ordered = frame.orderBy("file", "block", "row", "time_s")
    return ordered.select("time_s", "events", "key", "size_bytes", "problem")


def test_rates_with_times_a_mark_and_no_header(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    day = "2022-09-05 12:00:0"
    path.write_text(f"\ufeff{day}0,0.69\n{day}1,2\n\n{day}2,-1\nsoon,3\n{day}5,x\n", encoding="utf-8")
    check(
        spark,
        RateCsv(),
        [path],
        [
            (NOON, 0.69, None, None, None),
            (NOON + 1, 2.0, None, None, None),
            (NOON + 2, -1.0, None, None, NEGATIVE_COUNT),
            (None, 3.0, None, None, NO_TIME),
            (NOON + 5, None, None, None, NO_COUNT),
        ],
    )


def test_rates_with_a_header_keep_gaps_as_gaps(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "minutes.csv"
    path.write_text("period,count\n1998-04-30 21:30:00,2\n1998-04-30 21:33:00,11\n")
    first = datetime(1998, 4, 30, 21, 30, tzinfo=UTC).timestamp()
    check(
        spark,
        RateCsv(step_s=60.0),
        [path],
        [(first, 2.0, None, None, None), (first + 180, 11.0, None, None, None)],
    )


def test_rates_without_times_count_their_lines(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("42\n54\nnan\n49\n")
    check(
        spark,
        RateCsv(step_s=2.0),
        [path],
        [
            (0.0, 42.0, None, None, None),
            (2.0, 54.0, None, None, None),
            (4.0, float("nan"), None, None, NO_COUNT),
            (6.0, 49.0, None, None, None),
        ],
    )


EVENTS = [
    (NOON, b"alice", 10, None),
    (NOON + 0.25, b"bob", None, None),
    (None, b"carol", 7, NO_TIME),
    (NOON + 1, b"dave", -5, NEGATIVE_SIZE),
]


def test_events_as_csv(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text(
        'key,timestamp,bytes\nalice,2022-09-05T12:00:00Z,10\n"bob",2022-09-05 12:00:00.25,\n'
        "carol,yesterday,7\ndave,2022-09-05 12:00:01,-5\n"
    )
    check(spark, EventLog(format=LogFormat.CSV), [path], [(t, 1.0, k, s, p) for t, k, s, p in EVENTS])


def test_events_as_json_with_names_of_their_own_and_milliseconds(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "events.json"
    path.write_text(
        f'{{"at": {NOON * 1000:.0f}, "user": "alice", "size": 10, "more": {{"x": 1}}}}\n'
        f'{{"at": "{NOON * 1000 + 250:.0f}", "user": "bob"}}\n'
        '{"user": "carol", "size": 7}\n'
        f'{{"at": {NOON * 1000 + 1000:.0f}, "user": "dave", "size": -5}}\n'
        "{torn"
    )
    reader = EventLog(format=LogFormat.JSON, time_column="at", key_column="user", size_column="size", time_unit_s=0.001)
    good = [(t, 1.0, k, s, p) for t, k, s, p in EVENTS]
    check(spark, reader, [path], [*good, (None, 1.0, None, None, MALFORMED)])


def test_events_as_parquet_without_key_or_size(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    times = spark.createDataFrame([(NOON + i / 4,) for i in range(3)], "timestamp double")
    times.select(fn.col("timestamp").cast("timestamp")).coalesce(1).write.parquet(str(path))
    expected: Expected = [(NOON + i / 4, 1.0, None, None, None) for i in range(3)]
    check(spark, EventLog(format=LogFormat.PARQUET), [path], expected)


TLC_ROWS = [
    ("2022-09-05 12:00:00", "2022-09-05 12:10:00", 132),
    ("2022-09-05 12:00:03", "2022-09-05 11:59:00", 7),
    ("2022-09-05 11:00:00", "2022-09-05 11:30:00", None),
]
TLC_EXPECTED: Expected = [
    (NOON, 1.0, b"132", None, None),
    (NOON + 3, 1.0, b"7", None, BACKWARDS),
    (NOON - 3600, 1.0, None, None, None),
]


def test_tlc_records_as_parquet(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "yellow.parquet"
    names = "tpep_pickup_datetime string, tpep_dropoff_datetime string, PULocationID long"
    frame = spark.createDataFrame(TLC_ROWS, names)
    times = [fn.to_timestamp_ntz(fn.col(name)).alias(name) for name in frame.columns[:2]]
    frame.coalesce(1).select(*times, "PULocationID", fn.lit(1.5).alias("fare")).write.parquet(str(path))
    check(spark, Taxi(), [path], TLC_EXPECTED)


def test_tlc_records_as_csv(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "green.csv"
    header = "VendorID,lpep_pickup_datetime,lpep_dropoff_datetime,flag,PULocationID"
    lines = [f"2,{pickup},{dropoff},N,{'' if zone is None else zone}" for pickup, dropoff, zone in TLC_ROWS]
    path.write_text("\n".join([header, *lines]) + "\n")
    check(spark, Taxi(format=LogFormat.CSV), [path], TLC_EXPECTED)


@pytest.mark.parametrize("packed", [False, True])
def test_world_cup_records(spark: SparkSession, tmp_path: Path, packed: bool) -> None:
    records = [(894_000_000, 3, 81, 1024), (894_000_001, 4_000_000_000, 5, 0xFFFFFFFF)]
    data = b"".join(struct.pack(">IIIIBBBB", *record, 0, 2, 1, 64) for record in records) + b"\x01\x02\x03"
    path = tmp_path / ("wc_day1_1.gz" if packed else "wc_day1_1")
    path.write_bytes(gzip.compress(data) if packed else data)
    check(
        spark,
        WorldCup98(),
        [path],
        [
            (894_000_000.0, 1.0, b"3", 1024, None),
            (894_000_001.0, 1.0, b"4000000000", None, None),
            (None, 1.0, None, None, TORN),
        ],
    )


def test_azure_functions(spark: SparkSession, tmp_path: Path) -> None:
    header = "HashOwner,HashApp,HashFunction,Trigger," + ",".join(str(m) for m in range(1, 1441))

    def line(function: str, counts: dict[int, str]) -> str:
        return f"o,a,{function},http," + ",".join(counts.get(m, "0") for m in range(1, 1441))

    first, second = tmp_path / "invocations.anon.d01.csv", tmp_path / "invocations.anon.d02.csv"
    lines = [header, line("f1", {1: "5", 1440: "2"}), line("f2", {3: "-1", 4: "?"}), "o,a,f3,http,1"]
    first.write_text("\n".join(lines))
    second.write_text("\n".join([header, line("f1", {2: "9"})]) + "\n")
    check(
        spark,
        AzureFunctions(),
        [first, second],
        [
            (0.0, 5.0, b"f1", None, None),
            (1439 * 60.0, 2.0, b"f1", None, None),
            (120.0, -1.0, b"f2", None, NEGATIVE_COUNT),
            (180.0, None, b"f2", None, NO_COUNT),
            (0.0, 0.0, b"f3", None, MALFORMED),
            (86_400 + 60.0, 9.0, b"f1", None, None),
        ],
    )


def test_a_clock_that_goes_backwards_is_flagged(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("10,1\n20,1\n15,1\n12,1\nnever,1\n21,1\n9,1\n")
    records = RateCsv().read(spark, [str(path)]).transform(flag_backward_clock, 5.0)
    expected = [
        (10.0, None),
        (20.0, None),
        (15.0, None),
        (12.0, BACKWARDS),
        (None, NO_TIME),
        (21.0, None),
        (9.0, BACKWARDS),
    ]
    assertDataFrameEqual(
        _in_file_order(records).select("time_s", "problem"),
        spark.createDataFrame(expected, "time_s double, problem string"),
        checkRowOrder=True,
    )


@pytest.mark.parametrize(
    ("reader", "text", "said"),
    [
        (EventLog(format=LogFormat.CSV), "when,who\n1,a\n", "has none of the columns looked for; it has when, who"),
        (EventLog(format=LogFormat.CSV), "key,bytes\na,1\n", "has no column 'timestamp'"),
        (Taxi(format=LogFormat.CSV), "PULocationID\n1\n", "is no TLC trip record"),
        (AzureFunctions(), "a,b\n1,2\n", "is no Azure Functions invocation file"),
        (RateCsv(), "", "is empty"),
        (Taxi(), "not parquet at all", "cannot be read as its format says"),
    ],
)
def test_a_wrong_schema_is_one_clear_line(
    spark: SparkSession, tmp_path: Path, reader: Reader, text: str, said: str
) -> None:
    path = tmp_path / "wrong"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        reader.read(spark, [str(path)])
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_one_clear_line(spark: SparkSession, tmp_path: Path) -> None:
    for reader in (RateCsv(), Taxi(), WorldCup98()):
        with pytest.raises(InputError, match="does not exist; check the path"):
            reader.read(spark, [str(tmp_path / "nowhere")])
