"""From logs to a published workload: nothing lost, nothing half-written, the same on every run."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from sluice.errors import InputError
from sluice.pipeline.traces.columns import LogFormat
from sluice.pipeline.traces.event_log import EventLog
from sluice.pipeline.traces.job import TraceSpec, make_trace, shaped
from sluice.pipeline.traces.place import HotPartitions, ZipfKeys
from sluice.pipeline.traces.rate_csv import RateCsv
from sluice.pipeline.traces.shape import Spread
from sluice.settings.scenario import read_scenario
from sluice.settings.trace import read_events, read_rates
from sluice.simulate import Rates
from sluice.theory.murmur2 import partition_of_key


def _write(path: Path, *lines: str) -> str:
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def _events(out: Path) -> dict[int, list[dict[str, Any]]]:
    """What the files hold, read without Spark, in the order of the files."""
    folders = sorted((out / "events").glob("partition=*"))
    return {
        int(folder.name.partition("=")[2]): [
            row for file in sorted(folder.glob("*.parquet")) for row in pq.ParquetFile(file).read().to_pylist()
        ]
        for folder in folders
    }


def test_an_event_log_is_laid_out_by_kafkas_choice_in_the_order_of_time(spark: SparkSession, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    rows = [
        (float(t), f"user{k}", int(s))
        for t, k, s in zip(
            random.integers(0, 50, 400), random.integers(0, 30, 400), random.integers(1, 999, 400), strict=True
        )
    ]
    path = _write(tmp_path / "log.csv", "timestamp,key,bytes", *(f"{t},{k},{s}" for t, k, s in rows), "?,user1,1")
    spec = TraceSpec(reader=EventLog(format=LogFormat.CSV), partitions=4, disorder_s=None)
    summary = make_trace(spark, [path], str(tmp_path / "out"), spec)

    found = _events(tmp_path / "out")
    origin = min(t for t, _, _ in rows)
    laid = Counter(
        (partition, row["time_s"], row["key"], row["size_bytes"]) for partition, mine in found.items() for row in mine
    )
    expected = Counter((partition_of_key(k.encode(), 4), t - origin, k.encode(), s) for t, k, s in rows)
    assert laid == expected
    for mine in found.values():
        order = [(row["time_s"], row["sequence"]) for row in mine]
        assert order == sorted(order)
        assert len(set(order)) == len(order)
    assert summary.events == 400
    assert summary.quarantined == {"time cannot be read": 1}
    assert sum(summary.partition_events) == 400
    assert json.loads((tmp_path / "out" / "trace.json").read_text())["events"] == 400
    quarantine = spark.read.parquet(str(tmp_path / "out" / "quarantine")).collect()
    assert [(row.problem, row.record) for row in quarantine] == [("time cannot be read", "?,user1,1")]


def test_rates_become_the_events_the_simulator_would_make_of_them(spark: SparkSession, tmp_path: Path) -> None:
    values = [0.69, 0.77, 1.7, 0.0, 5.0, 2.5, 2.5, 0.4]
    path = _write(tmp_path / "rates.csv", *(str(v) for v in values))
    make_trace(spark, [path], str(tmp_path / "out"), TraceSpec(reader=RateCsv(), partitions=3))
    times = sorted(row["time_s"] for mine in _events(tmp_path / "out").values() for row in mine)
    counts = Rates(eps=np.array(values)).counts()
    expected = [s + (i + 0.5) / n for s, n in enumerate(counts.tolist()) for i in range(n)]
    assert times == pytest.approx(expected, abs=1e-9)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    values=st.lists(st.floats(0, 40), min_size=2, max_size=12).filter(lambda v: sum(v) > 2),
    speed_up=st.sampled_from([1.0, 2.0, 40.0]),
    spread=st.sampled_from(list(Spread)),
)
def test_no_event_is_lost_or_leaves_its_step(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, values: list[float], speed_up: float, spread: Spread
) -> None:
    path = _write(tmp_path_factory.mktemp("rates") / "rates.csv", *(repr(v) for v in values))
    spec = TraceSpec(reader=RateCsv(step_s=60.0), partitions=2, speed_up=speed_up, spread=spread)
    rows = shaped(spec.reader.read(spark, [path]), spec, 0.0).select("time_s", "partition").collect()
    counts = Rates(eps=np.array(values) / 60, step_s=60.0).counts()
    steps = Counter(int(row.time_s * speed_up // 60) for row in rows)
    assert [steps[i] for i in range(len(values))] == counts.tolist()
    # Dealt out one after the other.
    partitions = Counter(row.partition for row in rows)
    assert abs(partitions[0] - partitions[1]) <= 1


def test_slice_and_peak(spark: SparkSession, tmp_path: Path) -> None:
    path = _write(tmp_path / "rates.csv", *(str(10 * i) for i in range(10)))
    spec = TraceSpec(reader=RateCsv(), partitions=1, start_s=2.0, stop_s=6.0, peak_eps=100.0)
    summary = make_trace(spark, [path], str(tmp_path / "out"), spec)
    # 20, 30, 40, 50 with the 50 scaled to 100
    assert summary.events == 280
    assert summary.peak_eps == 100.0
    assert summary.duration_s == 4.0


def test_an_event_log_is_scaled_by_copies_that_follow_within_a_second(spark: SparkSession, tmp_path: Path) -> None:
    path = _write(tmp_path / "log.csv", "timestamp,key", *(f"{i},k{i}" for i in range(1000)))
    spec = TraceSpec(reader=EventLog(format=LogFormat.CSV), partitions=1, peak_eps=2.5)
    rows = shaped(spec.reader.read(spark, [path]), spec, 0.0).select("time_s", "key").collect()
    copies = Counter(row.key.decode() for row in rows)
    assert set(copies.values()) == {2, 3}
    assert len(copies) == 1000
    # Half of them get a third copy, within five standard deviations.
    assert abs(len(rows) - 2500) < 5 * math.sqrt(250)
    assert all(0 <= row.time_s - int(row.key.decode()[1:]) < 1 for row in rows)


def test_skew_is_put_in_and_runs_repeat(spark: SparkSession, tmp_path: Path) -> None:
    path = _write(tmp_path / "rates.csv", *(["500"] * 20))
    hot = TraceSpec(reader=RateCsv(), partitions=9, placement=HotPartitions(hot=2, share_ratio=0.5))
    first = make_trace(spark, [path], str(tmp_path / "first"), hot)
    again = make_trace(spark, [path], str(tmp_path / "again"), hot)
    assert first == again
    assert _events(tmp_path / "first") == _events(tmp_path / "again")
    shares = np.array(first.partition_events) / first.events
    assert shares[:2].sum() == pytest.approx(0.5, abs=0.025)
    assert shares[2:] == pytest.approx(np.full(7, 0.5 / 7), abs=0.013)

    zipf = TraceSpec(reader=RateCsv(), partitions=5, placement=ZipfKeys(keys=50, exponent=1.0))
    rows = shaped(zipf.reader.read(spark, [path]), zipf, 0.0).select("key", "partition").collect()
    keys = Counter(row.key for row in rows)
    popularity = np.arange(1, 51, dtype=np.float64) ** -1.0
    expected = popularity / popularity.sum()
    assert [keys[f"k{i}".encode()] / len(rows) for i in range(1, 4)] == pytest.approx(expected[:3].tolist(), abs=0.02)
    assert all(row.partition == partition_of_key(bytes(row.key), 5) for row in rows)


def test_the_scenario_names_every_event_of_a_small_trace(spark: SparkSession, tmp_path: Path) -> None:
    path = _write(tmp_path / "rates.csv", *(["20"] * 5))
    make_trace(spark, [path], str(tmp_path / "out"), TraceSpec(reader=RateCsv(), partitions=3, spread=Spread.BURST))
    scenario = read_scenario(tmp_path / "out" / "scenario.toml")
    assert scenario.topic[0].partitions == 3
    trace = read_events(tmp_path / "out" / "arrivals.csv")
    assert trace.time_s.tolist() == [float(s) for s in range(5) for _ in range(20)]
    assert trace.partition is not None
    assert trace.partition.tolist() == [i % 3 for i in range(100)]


def test_the_scenario_of_a_large_trace_names_its_rates(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sluice.pipeline.traces.job.RECORDED_LIMIT", 50)
    path = _write(tmp_path / "rates.csv", "20", "0", "40")
    summary = make_trace(spark, [path], str(tmp_path / "out"), TraceSpec(reader=RateCsv(), partitions=2))
    scenario = read_scenario(tmp_path / "out" / "scenario.toml")
    assert scenario.topic[0].choice.model_dump()["weights"] == tuple(float(n) for n in summary.partition_events)
    assert read_rates(tmp_path / "out" / "rates.csv").values.tolist() == [20.0, 0.0, 40.0]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["1", "2", "x", "y"], r"2 of 4 records cannot be used \(2 x count is no number\)"),
        (["0", "0"], "the trace has no events"),
        (["100,1", "200,1", "1,1", "2,1"], "2 x clock goes backwards"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(
    spark: SparkSession, tmp_path: Path, lines: list[str], said: str
) -> None:
    path = _write(tmp_path / "rates.csv", *lines)
    with pytest.raises(InputError, match=said) as caught:
        make_trace(spark, [path], str(tmp_path / "out"), TraceSpec(reader=RateCsv(), partitions=2))
    assert "\n" not in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["rates.csv"]


def test_what_is_there_is_not_overwritten_unless_told(spark: SparkSession, tmp_path: Path) -> None:
    path = _write(tmp_path / "rates.csv", "5")
    out = tmp_path / "out"
    spec = TraceSpec(reader=RateCsv(), partitions=1)
    make_trace(spark, [path], str(out), spec)
    _write(tmp_path / "rates.csv", "7")
    with pytest.raises(InputError, match="exists; choose another place or say --overwrite"):
        make_trace(spark, [path], str(out), spec)
    assert json.loads((out / "trace.json").read_text())["events"] == 5
    assert make_trace(spark, [path], str(out), spec, overwrite=True).events == 7
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "rates.csv"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"partitions": 0}, "partitions is 0; give at least 1"),
        ({"speed_up": 0.0}, "speed_up is 0.0; give a factor above 0"),
        ({"start_s": 5.0, "stop_s": 4.0}, "stop_s is 4.0; give a time after start_s"),
        ({"peak_eps": -1.0}, "peak_eps is -1.0; give a rate above 0 events/s"),
    ],
)
def test_a_wrong_spec_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        TraceSpec(**{"reader": RateCsv(), "partitions": 1, **wrong})
