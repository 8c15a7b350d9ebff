"""Windows equal a plain oracle on random streams, however they are cut into batches."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from datasketches import kll_doubles_sketch
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn
from telemetry_oracle import Event, Oracle

from sluice.errors import InputError
from sluice.model import Partition
from sluice.model.sketch import LatencySketch
from sluice.model.telemetry import Telemetry
from sluice.pipeline.telemetry.facts import fact_batches, facts, readable, slim
from sluice.pipeline.telemetry.spec import TelemetrySpec, WatchedGroup
from sluice.pipeline.telemetry.step import State, Step, take_step
from sluice.pipeline.telemetry.watermark import heads_of

CLOCK_S = 1_000.0
SPEC = TelemetrySpec(
    groups=(WatchedGroup(group="g", topics=("t",)),), window_s=6, slide_s=2, delay_s=3, max_ahead_s=0.0, top_keys=50
)
SLIM = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("time_s", pa.float64()),
        ("key", pa.binary()),
        ("size_bytes", pa.int64()),
        ("record", pa.string()),
    ]
)
REPORTS = "__sluice.g.telemetry"


def event_batch(partition: int, first: int, events: Sequence[Event]) -> pa.RecordBatch:
    rows = [
        {"topic": "t", "partition": partition, "offset": first + i, "time_s": t, "key": k, "size_bytes": s}
        for i, (t, k, s) in enumerate(events)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=SLIM)


def report_batch(first: int, records: Sequence[str]) -> pa.RecordBatch:
    rows = [
        {"topic": REPORTS, "partition": 0, "offset": first + i, "time_s": 0.0, "size_bytes": 0, "record": record}
        for i, record in enumerate(records)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=SLIM)


def stepped(state: State, batches: Iterator[pa.RecordBatch] | list[pa.RecordBatch]) -> Step:
    """One batch as the executors and the driver treat it, without Spark between them."""
    made = list(fact_batches(heads_of(state.heads), CLOCK_S, SPEC)(iter(batches)))
    return take_step(state, pa.Table.from_batches(made), CLOCK_S, SPEC)


def rows_of(steps: Sequence[Step], table: str) -> list[dict[str, Any]]:
    return [row for step in steps if table in step.final for row in step.final[table].to_pylist()]


times = st.one_of(
    st.integers(0, 400).map(lambda tenth: tenth / 10),
    st.sampled_from([None, 5_000.0]),
)
# Mostly forward, with jumps: enough is late, enough is not.
streams = st.lists(
    st.lists(
        st.tuples(times, st.sampled_from([b"a", b"b", b"c", b"\xff", None]), st.integers(0, 9)), min_size=0, max_size=40
    ).flatmap(lambda log: st.sampled_from([log, sorted(log, key=lambda e: e[0] or 0.0)])),
    min_size=1,
    max_size=3,
)


@settings(max_examples=60, deadline=None)
@given(streams=streams, cuts=st.lists(st.integers(0, 40), max_size=4))
def test_windows_equal_the_oracle_however_the_stream_is_cut(streams: list[list[Event]], cuts: list[int]) -> None:
    oracle = Oracle(delay_s=3, window_s=6, slide_s=2, latest_s=CLOCK_S)
    for partition, log in enumerate(streams):
        oracle.read(partition, log)

    steps: list[Step] = []
    state = State()
    for first, last in pairwise([0, *sorted(cuts), 40]):
        batches = [event_batch(p, first, log[first:last]) for p, log in enumerate(streams) if log[first:last]]
        steps.append(stepped(state, batches))
        state = steps[-1].state

    seconds = {(r["partition"], r["second"]): (r["events"], r["bytes"]) for r in rows_of(steps, "seconds")}
    assert seconds == {at: (len(mine), sum(e[2] for e in mine)) for at, mine in oracle.seconds.items()}
    assert len(rows_of(steps, "seconds")) == len(seconds)
    windows = rows_of(steps, "windows")
    assert {(r["partition"], r["end_s"]) for r in windows} == set(oracle.windows)
    assert len(windows) == len(oracle.windows)
    for row in windows:
        expected = oracle.windows[row["partition"], row["end_s"]]
        found = {name: math.nan if row[name] is None else row[name] for name in expected}
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6, nan_ok=True)
    assert sorted((r["partition"], r["offset"], r["problem"]) for r in rows_of(steps, "quarantine")) == oracle.bad
    hot = {(r["partition"], r["end_s"], r["key"]): r["events"] for r in rows_of(steps, "hot_keys")}
    assert hot == {(*at, readable(key)): n for at, keys in oracle.hot.items() for key, n in keys.items()}
    # Nothing is lost: what is not final is open or refused.
    assert state.seconds is not None
    over = {(r["partition"], r["second"]) for r in rows_of(steps, "seconds")}
    still = [r for r in state.seconds.to_pylist() if (r["partition"], r["second"]) not in over]
    total = sum(n for n, _ in seconds.values()) + sum(r["events"] for r in still) + len(oracle.bad)
    assert total == sum(len(log) for log in streams)


def report(time_s: float, latencies: Sequence[float], *, run: str = "r1", consumer: str = "c1") -> str:
    count = float(len(latencies))
    made = Telemetry(
        group="g",
        consumer=consumer,
        run=run,
        time_s=time_s,
        processed_events=count,
        busy_s=0.01 * count,
        busy_s2=0.0002 * count,
        latency_s=float(sum(latencies)),
        latency=LatencySketch.of(list(latencies)),
        committed={Partition("t", 0): int(count)},
    )
    return made.to_wire().decode()


def test_consumers_are_summed_up_by_the_steps_between_their_reports() -> None:
    slow, quick = [0.4] * 30, [0.1] * 70
    log = [
        report(1.0, quick),
        report(1.9, quick + slow),
        "{torn",
        report(2.1, [0.2] * 10, run="r2"),
        report(30.0, [0.2] * 10, run="r2"),
    ]
    # However the reports are cut into batches.
    for cut in range(len(log) + 1):
        first = stepped(State(), [report_batch(0, log[:cut])] if cut else [])
        second = stepped(first.state, [report_batch(cut, log[cut:])] if log[cut:] else [])
        rows = rows_of([first, second], "consumers")
        assert [(r["consumer"], r["start_s"], r["end_s"], r["processed_events"]) for r in rows] == [
            ("c1", 0, 2, 100.0),
            ("c1", 2, 4, 10.0),
        ]
        assert rows[0]["service_eps"] == pytest.approx(100.0)
        assert rows[0]["service_cv"] == pytest.approx(1.0)
        assert rows[0]["latency_mean_s"] == pytest.approx(0.19)
        assert rows[0]["latency_p50_s"] == pytest.approx(0.1, rel=0.03)
        assert rows[0]["latency_p95_s"] == pytest.approx(0.4, rel=0.03)
        assert rows[0]["sla_ratio"] == 1.0
        bad = rows_of([first, second], "quarantine")
        assert [(r["offset"], r["record"]) for r in bad] == [(2, "{torn")]


def test_reports_that_are_late_foreign_or_go_backwards_are_refused() -> None:
    foreign = report(10.0, [0.1]).replace('"group":"g"', '"group":"other"')
    log = [
        report(10.0, [0.1] * 5),
        report(2.0, [0.1] * 6),
        foreign,
        report(11.0, [0.1] * 4),
        "",
        report(12.0, [0.1] * 9),
    ]
    step = stepped(State(), [report_batch(0, log)])
    problems = {r["offset"]: str(r["problem"]) for r in rows_of([step], "quarantine")}
    assert set(problems) == {1, 2, 3, 4}
    assert problems[1] == "late"
    assert "group 'other'" in problems[2]
    assert "counts more than" in problems[3] or "went down" in problems[3]
    # The counters go on from the last good report.
    assert step.state.consumers is not None
    assert sum(r["processed_events"] for r in step.state.consumers.to_pylist()) == 9.0


def test_lag_is_what_is_not_reported_as_committed() -> None:
    events = event_batch(0, 0, [(float(i), None, 1) for i in range(20)])
    step = stepped(State(), [events, report_batch(0, [report(5.0, [0.1] * 4)])])
    windows = {r["end_s"]: r["lag_events"] for r in rows_of([step], "windows")}
    assert windows == {2: 0, 4: 0, 6: 2, 8: 4, 10: 6, 12: 8, 14: 10, 16: 12}


def test_latency_sketches_are_merged_by_sparks_own_functions(spark: SparkSession) -> None:
    log = [report(1.0, [0.1] * 300, consumer="c1"), report(1.0, [0.4] * 100, consumer="c2"), report(30.0, [0.1] * 300)]
    rows = rows_of([stepped(State(), [report_batch(0, log)])], "consumers")
    frame = spark.createDataFrame([(bytearray(r["latency_kll"]),) for r in rows], "kll binary")
    merged = frame.agg(fn.expr("kll_merge_agg_double(kll)").alias("kll"))
    row = merged.select(
        fn.expr("kll_sketch_get_n_double(kll)"),
        fn.expr("kll_sketch_get_quantile_double(kll, 0.5D)"),
        fn.expr("kll_sketch_get_quantile_double(kll, 0.9D)"),
    ).collect()[0]
    assert row[0] == 400
    assert row[1] == pytest.approx(0.1, rel=0.03)
    assert row[2] == pytest.approx(0.4, rel=0.03)
    assert kll_doubles_sketch.deserialize(rows[0]["latency_kll"]).n == 300


def test_facts_on_spark_are_those_without_it(spark: SparkSession) -> None:
    random = np.random.default_rng(4)
    rows = [
        (bytearray(b"k%d" % random.integers(5)), bytearray(b"x" * int(random.integers(9))), "t", p, i, float(t))
        for p in range(3)
        for i, t in enumerate((np.arange(200) / 10 + random.normal(0, 2, 200) + 5).clip(0).round(3))
    ]
    names = "key binary, value binary, topic string, partition int, offset long, at double"
    at = fn.timestamp_millis(fn.round(fn.col("at") * 1000).cast("long"))
    records = spark.createDataFrame(rows, names).withColumn("timestamp", at)
    # Kafka's source gives each partition to one task in order; here that has to be asked for.
    ordered = records.repartitionById(3, fn.col("partition")).sortWithinPartitions("offset")
    on_spark = take_step(State(), facts(slim(ordered, SPEC), {}, CLOCK_S, SPEC).toArrow(), CLOCK_S, SPEC)
    batches = [
        event_batch(p, 0, [(t, bytes(k), len(k) + len(v)) for k, v, _, q, _, t in rows if q == p]) for p in range(3)
    ]
    alone = stepped(State(), batches)
    for table in ("seconds", "windows", "quarantine"):
        order = [(name, "ascending") for name in alone.final[table].column_names[:4]]
        assert on_spark.final[table].sort_by(order).equals(alone.final[table].sort_by(order)), table


def test_a_log_that_begins_anew_is_refused() -> None:
    first = stepped(State(), [event_batch(0, 5, [(1.0, None, 1)])])
    with pytest.raises(InputError, match="t-0 came out of order at offset 3, expected 6 or later"):
        stepped(first.state, [event_batch(0, 3, [(2.0, None, 1)])])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"groups": ()}, "no group is watched"),
        ({"window_s": 30, "slide_s": 7}, "window_s is 30, no multiple of slide_s 7"),
        ({"slide_s": 0}, "slide_s is 0; give at least 1 s"),
        ({"delay_s": -1}, "delay_s is -1"),
    ],
)
def test_a_wrong_spec_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        TelemetrySpec(**{"groups": SPEC.groups, **wrong})
