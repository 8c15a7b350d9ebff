"""Rates from knots and from traces as people write them."""

from pathlib import Path

import numpy as np
import pytest

from sluice.errors import InputError
from sluice.lab.library import find_scenario
from sluice.settings.curve import rate_curve
from sluice.settings.rate import ConstantRate, KnotsRate, TraceRate
from sluice.settings.trace import read_events, read_rates


def written(folder: Path, text: str) -> Path:
    path = folder / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_workload_a_has_the_published_number_of_events() -> None:
    scenario = find_scenario("workload-a")
    rate = scenario.topic[0].rate
    assert rate is not None
    curve = rate_curve(rate, scenario.duration_s, seed=0)
    assert curve.values.sum() == 109_053
    assert curve.values.max() == 350


def test_half_a_cosine_is_level_at_the_knots_and_half_way_in_the_middle() -> None:
    rate = KnotsRate(kind="knots", points=((0.0, 0.0), (11.0, 110.0)))
    values = rate_curve(rate, 11, seed=0).values
    assert values[5] == pytest.approx(55.0)
    assert values[0] < 110 / 11 / 2
    assert values + values[::-1] == pytest.approx(np.full(11, 110.0))


def test_a_straight_line_and_a_constant() -> None:
    line = KnotsRate(kind="knots", points=((0.0, 0.0), (10.0, 100.0)), interpolation="linear")
    assert rate_curve(line, 4, seed=0).values.tolist() == [5.0, 15.0, 25.0, 35.0]
    assert rate_curve(ConstantRate(kind="constant", eps=7), 3, seed=0).values.tolist() == [7.0, 7.0, 7.0]


def test_noise_comes_from_the_seed_and_never_below_zero() -> None:
    rate = KnotsRate(kind="knots", points=((0.0, 1.0), (500.0, 1.0)), noise_eps=2.0)
    first, again, other = (rate_curve(rate, 500, seed=s).values for s in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert first.min() == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "5\n6\n7\n",
        "\ufeff5\n6\n7\n",
        "rate\n5\n6\n7",
        "0,5\n1,6\n2,7\n",
        "time,events\n10,5\n11,6\n12,7\n",
        "\ufeff2022-09-05 16:34:44,5\n2022-09-05 16:34:45, 6\n\n2022-09-05 16:34:46,7\n",
        "period,count\n1998-04-30T21:30:00,5\n1998-04-30T21:30:01,6\n1998-04-30T21:30:02,7\n",
    ],
)
def test_the_same_trace_in_many_dresses(tmp_path: Path, text: str) -> None:
    trace = read_rates(written(tmp_path, text))
    assert trace.step_s == 1.0
    assert trace.values.tolist() == [5.0, 6.0, 7.0]


def test_minutes_and_a_missing_one(tmp_path: Path) -> None:
    trace = read_rates(written(tmp_path, "0,60\n60,120\n180,240\n240,300\n300,60\n"))
    assert trace.step_s == 60.0
    assert trace.values.tolist() == [60.0, 120.0, 180.0, 240.0, 300.0, 60.0]


def test_speed_up_keeps_the_events_and_peak_scales_them(tmp_path: Path) -> None:
    path = written(tmp_path, "0,60\n60,120\n120,240\n")
    faster = rate_curve(TraceRate(kind="trace", file=str(path), per="row", speed_up=60.0), 3, seed=0)
    assert faster.step_s == 1.0
    assert faster.values.tolist() == [60.0, 120.0, 240.0]
    scaled = rate_curve(TraceRate(kind="trace", file=str(path), step_s=1.0, peak_eps=480.0), 3, seed=0)
    assert scaled.values.tolist() == [120.0, 240.0, 480.0]
    later = rate_curve(TraceRate(kind="trace", file=str(path), step_s=1.0, start_s=1.0), 2, seed=0)
    assert later.values.tolist() == [120.0, 240.0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no rows"),
        ("rate\n", "no rows"),
        ("\n\n", "no rows"),
        ("5\nsix\n7\n", "line 2: 'six' is not a number"),
        ("a\nb\n7\n", "line 2: 'b' is not a number"),
        ("5\n-6\n", "line 2: '-6' is no rate"),
        ("5\nnan\n", "line 2: 'nan' is no rate"),
        ("5\ninf\n", "line 2: 'inf' is no rate"),
        ("1,2\n3\n", "line 2 has 1 columns"),
        ("1,2,3\n", "line 1 has 3 columns"),
        ("1,5\n1,6\n", "line 2: time '1' is not after"),
        ("noon,5\nlater,6\n", "line 1: 'noon' is neither seconds nor an ISO date"),
    ],
)
def test_a_trace_that_cannot_be_used(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        read_rates(written(tmp_path, text))
    assert told in str(caught.value)
    assert "trace.csv" in str(caught.value)


def test_a_trace_shorter_than_the_run_is_an_error(tmp_path: Path) -> None:
    rate = TraceRate(kind="trace", file=str(written(tmp_path, "1\n2\n")))
    with pytest.raises(InputError, match="lasts only 2 s"):
        rate_curve(rate, 3, seed=0)


def test_an_absent_trace_is_an_error_without_a_stand_in(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.csv cannot be read"):
        rate_curve(TraceRate(kind="trace", file=str(tmp_path / "no.csv")), 3, seed=0)


def test_the_real_ride_trace_and_its_stand_in_agree() -> None:
    scenario = find_scenario("workload-b")
    rate = scenario.topic[0].rate
    assert isinstance(rate, TraceRate)
    assert rate.otherwise is not None
    if not Path(rate.file).is_file():
        pytest.skip("the ride trace is not in ../shared/data")
    real = rate_curve(rate, scenario.duration_s, seed=0).values
    fitted = rate_curve(rate.otherwise, scenario.duration_s, seed=0).values
    assert fitted.sum() == pytest.approx(real.sum(), rel=0.01)
    assert np.corrcoef(real, fitted)[0, 1] > 0.95


def test_recorded_events_are_sorted_and_typed(tmp_path: Path) -> None:
    events = read_events(written(tmp_path, "time_s,partition,size_bytes\n2.5,1,100\n0.5,0,20\n"), 2)
    assert events.time_s.tolist() == [0.5, 2.5]
    assert events.partition is not None
    assert events.partition.tolist() == [0, 1]
    assert events.size_bytes is not None
    assert events.size_bytes.tolist() == [20.0, 100.0]
    with pytest.raises(InputError, match="needs time_s"):
        read_events(written(tmp_path, "when\n2\n"), 2)
    with pytest.raises(InputError, match="line 3: partition 2 is not one of 0 to 1"):
        read_events(written(tmp_path, "time_s,partition\n1,1\n2,2\n"), 2)
