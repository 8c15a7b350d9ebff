"""Forecasts: what is kept is better than naive where there is something to learn, and is naive where there is not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from sluice.analyze.by_group import ByGroup
from sluice.analyze.forecast import Forecasting
from sluice.analyze.window import WindowAnalyzer
from sluice.assembly.forecast import forecasting, load_models, looks_back_s
from sluice.assembly.live import live
from sluice.control.journal import Discard
from sluice.errors import InputError
from sluice.model import Assignment, Decision, Objective, Partition, Receipt, Snapshot
from sluice.model.values import FloatArray, floats
from sluice.pipeline.forecast.job import models, stepped, write_models
from sluice.pipeline.forecast.train import ForecastSpec, trained
from sluice.pipeline.telemetry.arrivals import SECONDS
from sluice.pipeline.telemetry.lake import Lake
from sluice.pipeline.telemetry.spec import TelemetrySpec, WatchedGroup
from sluice.pipeline.telemetry.step import State, Step
from sluice.plan.base import PlanContext
from sluice.plan.hold import Hold
from sluice.settings.live import read_live
from sluice.theory.lag_model import LagModel, drift, fitted, forecasts, moving_mean, naive, seasonal_naive

SPEC = ForecastSpec(step_s=10, horizon_s=30, season_s=600)


def test_the_simple_models_by_hand() -> None:
    series = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    now = np.array([4])
    assert forecasts(series, naive(2), now).tolist() == [16.0]
    assert forecasts(series, moving_mean(2, 2), now).tolist() == [12.0]
    # 16 + 2 * (16 - 4) / 2
    assert forecasts(series, drift(2, 2), now).tolist() == [28.0]
    # Two steps after now is one step after index 5 - 4 = 1 of a season of four: index 2.
    assert forecasts(series, seasonal_naive(2, 4), now).tolist() == [4.0]
    assert np.isnan(forecasts(series, seasonal_naive(2, 4), np.array([1]))).all()
    # A falling line would go below zero.
    assert forecasts(np.array([9.0, 1.0]), drift(1, 1), np.array([1])).tolist() == [0.0]


@settings(max_examples=60, deadline=None)
@given(
    # Together below 1: a series that grows without end cannot be told from others that do.
    weights=st.lists(st.floats(-0.24, 0.24), min_size=2, max_size=4),
    level=st.floats(50, 500),
    horizon=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_least_squares_finds_the_weights_that_made_the_series(
    weights: list[float], level: float, horizon: int, seed: int
) -> None:
    lags = tuple(range(len(weights)))
    random = np.random.default_rng(seed)
    series = list(level + random.normal(0, 10, 40))
    intercept = level * (1 - sum(weights))
    noise = random.normal(0, 10, 400)
    for i in range(400):
        past = [series[len(series) - horizon - lag] for lag in lags]
        # The noise is what the fit cannot know; it keeps the series from settling.
        series.append(intercept + float(np.dot(weights, past)) + noise[i])
    model = fitted(np.array(series), horizon, lags, ridge=0.0)
    assert model is not None
    exact = np.linalg.lstsq(
        np.column_stack([np.ones(440 - horizon - max(lags)), *_lagged(np.array(series), lags, horizon)]),
        np.array(series)[max(lags) + horizon :],
        rcond=None,
    )[0]
    assert [model.intercept, *model.weights] == pytest.approx(exact.tolist(), rel=1e-6, abs=1e-6)


def _lagged(series: FloatArray, lags: tuple[int, ...], horizon: int) -> list[FloatArray]:
    reach = max(lags)
    return [series[reach - lag : len(series) - horizon - lag] for lag in lags]


def _season(steps: int, noise: float, seed: int = 1) -> FloatArray:
    random = np.random.default_rng(seed)
    wave = 100 + 60 * np.sin(np.arange(steps) * 2 * np.pi / 60)
    return np.maximum(wave + random.normal(0, noise, steps), 0.0)


def test_what_repeats_is_learned_and_beats_naive_on_data_that_had_no_say() -> None:
    row = trained(_season(600, noise=5.0), SPEC)
    assert row["skill"] > 0.4
    assert row["mae_eps"] < row["naive_mae_eps"]
    assert row["seasonal_mae_eps"] is not None


def test_a_random_walk_is_left_to_the_naive_forecast_or_hardly_beaten() -> None:
    walk = 500 + np.cumsum(np.random.default_rng(5).normal(0, 3, 800))
    row = trained(walk, SPEC)
    # Nothing can be learned of it: whatever is kept must not claim to.
    assert abs(row["skill"]) < 0.1


def test_the_judged_part_has_no_say_in_the_choice() -> None:
    series = _season(400, noise=2.0)
    other = series.copy()
    other[301:] = 0.0
    chosen, again = trained(series, SPEC), trained(other, SPEC)
    assert chosen["model"] == again["model"]
    assert chosen["mae_eps"] != again["mae_eps"]


def test_a_short_or_constant_series_is_naive() -> None:
    short = trained(np.arange(39.0), SPEC)
    assert (short["model"], short["mae_eps"], short["skill"]) == ("naive", None, None)
    flat = trained(np.full(200, 7.0), SPEC)
    assert (flat["model"], flat["mae_eps"], flat["skill"]) == ("naive", 0.0, None)


def test_a_model_looks_no_further_back_than_the_controller_remembers() -> None:
    row = trained(_season(600, noise=5.0), replace(SPEC, reach_s=60))
    assert max(row["lags"]) < 6


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Two partitions of one group, as the stream would have left them."""
    rows = [
        {"topic": "t", "partition": p, "second": 10 * i, "events": round(10 * value), "bytes": 1, "gaps": 0}
        | {"gap_s": 0.0, "gap_s2": 0.0, "next_offset": i}
        for p, seed in ((0, 1), (1, 2))
        for i, value in enumerate(_season(302, noise=5.0, seed=seed))
    ]
    spec = TelemetrySpec(groups=(WatchedGroup(group="g", topics=("t",)),))
    empty = {name: pa.table({"x": pa.array([], pa.int8())}) for name in State.names()}
    step = Step(state=State(**empty), final={"seconds": pa.Table.from_pylist(rows, schema=SECONDS)})
    Lake(str(tmp_path / "lake")).add(0, step, 0.0, spec)
    return tmp_path / "lake"


def test_a_table_is_trained_side_by_side_published_and_loaded(spark: SparkSession, lake: Path, tmp_path: Path) -> None:
    table = write_models(spark, str(lake), str(tmp_path / "models"), SPEC)
    expected = []
    for p, seed in ((0, 1), (1, 2)):
        series = np.round(10 * _season(302, noise=5.0, seed=seed))[1:-1] / 10
        expected.append({"group": "g", "topic": "t", "partition": p, "step_s": 10, **trained(series, SPEC)})
    assertDataFrameEqual(table, spark.createDataFrame(expected, table.schema))

    step_s, loaded = load_models(tmp_path / "models", "g")
    assert step_s == 10.0
    assert loaded == {
        Partition("t", row["partition"]): LagModel(
            row["horizon"], tuple(row["lags"]), tuple(row["weights"]), row["intercept"]
        )
        for row in expected
    }
    analyzer = forecasting(WindowAnalyzer(), str(tmp_path / "models"), "g")
    assert isinstance(analyzer, Forecasting)
    assert looks_back_s(ByGroup({"g": analyzer})) == analyzer.memory_s > 0
    with pytest.raises(InputError, match="hold none of group 'other'"):
        load_models(tmp_path / "models", "other")
    with pytest.raises(InputError, match="exists; choose another place"):
        write_models(spark, str(lake), str(tmp_path / "models"), SPEC)


def test_a_live_run_loads_the_models_its_settings_name(tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text(
        f'[objective]\nlatency_s = 1.0\n[group]\nname = "g"\ntopics = ["t"]\n[analyze]\nforecast = "{tmp_path}/none"\n'
    )
    with (
        pytest.raises(InputError, match=r"forecast models .*none cannot be read"),
        live(read_live(config), bootstrap="127.0.0.1:1", act=False, policy="hold", shadows=(), sink=Discard()),
    ):
        pass


def test_an_empty_lake_is_one_clear_line_and_nothing_is_written(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no seconds to learn from"):
        write_models(spark, str(tmp_path / "lake"), str(tmp_path / "models"), SPEC)
    assert not (tmp_path / "models").exists()


def test_seconds_become_steps(spark: SparkSession) -> None:
    seconds = spark.createDataFrame([("g", "t", 0, s, 2) for s in (0, 9, 10, 31)], _NAMES)
    expected = [("g", "t", 0, 0, 4), ("g", "t", 0, 1, 2), ("g", "t", 0, 3, 2)]
    assertDataFrameEqual(
        seconds.transform(stepped, 10),
        spark.createDataFrame(expected, "group string, topic string, partition int, step long, events long"),
    )
    assert seconds.transform(stepped, 10).transform(models, SPEC).collect()[0].model == "naive"


_NAMES = "group string, topic string, partition int, second long, events long"


def test_the_analyzer_forecasts_from_the_rates_of_past_decisions() -> None:
    partitions = (Partition("t", 0), Partition("t", 1))
    analyzer = Forecasting(
        wrapped=WindowAnalyzer(),
        models={partitions[0]: LagModel(1, (0, 2), (2.0, -1.0), 5.0)},
        step_s=1.0,
    )
    assert analyzer.memory_s == 3.0
    assignment = Assignment.of({"c": partitions})
    recent: list[Decision] = []
    found: list[FloatArray | None] = []
    policy = Hold()
    for tick, arrived in enumerate([0, 10, 30, 60, 100]):
        snapshot = Snapshot(
            group="g",
            time_s=float(tick),
            assignment=assignment,
            end_events=floats([arrived, arrived]),
            committed_events=floats([0, 0]),
        )
        workload = analyzer.analyze(snapshot, recent)
        found.append(workload.forecast_eps)
        plan = policy.plan(PlanContext(workload=workload, objective=Objective(latency_s=1.0)))
        receipt = Receipt(time_s=float(tick), action=plan.action)
        recent.append(Decision(tick=tick, snapshot=snapshot, workload=workload, plan=plan, receipt=receipt))
    # Rates are 10, 20, 30, 40 from the second tick on; two steps back is known from the fourth.
    assert found[:3] == [None, None, None]
    for forecast, expected in zip(found[3:], (2 * 30 - 10 + 5, 2 * 40 - 20 + 5), strict=True):
        assert forecast is not None
        assert forecast[0] == expected
        assert np.isnan(forecast[1])
