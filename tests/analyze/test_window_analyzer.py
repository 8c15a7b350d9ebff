"""Rates, lag and strength from snapshots, against numbers worked out by hand."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.analyze.window import WindowAnalyzer
from sluice.errors import InputError
from sluice.model import (
    Action,
    Assignment,
    ConsumerReports,
    Decision,
    LagBasis,
    Partition,
    Plan,
    Reason,
    Receipt,
    Snapshot,
    Workload,
    replace,
)
from sluice.model.values import floats, ints

PARTITIONS = (Partition("t", 0), Partition("t", 1))


def group(*consumers: str) -> Assignment:
    names = consumers or ("a", "b")
    return Assignment(partitions=PARTITIONS, consumers=names, owner=ints([0, len(names) - 1]))


def snapshot(time_s: float, end: Sequence[float], committed: Sequence[float] | None = None, **more: Any) -> Snapshot:
    fields: dict[str, Any] = {
        "group": "g",
        "time_s": time_s,
        "assignment": group(),
        "end_events": floats(end),
        "committed_events": floats(committed if committed is not None else end),
    }
    return Snapshot(**{**fields, **more})


def history(analyzer: WindowAnalyzer, *snapshots: Snapshot, **receipt: Any) -> list[Decision]:
    """The decisions a loop that always holds would remember."""
    recent: list[Decision] = []
    for seen in snapshots:
        load = analyzer.analyze(seen, recent)
        recent.append(held(seen, load, **receipt))
    return recent


def held(seen: Snapshot, load: Workload, **receipt: Any) -> Decision:
    at = seen.assignment
    plan = Plan(
        group="g", time_s=seen.time_s, policy="p", action=Action.HOLD, current=at, target=at, reason=Reason("held")
    )
    done = Receipt(time_s=seen.time_s, action=Action.HOLD, **receipt)
    return Decision(tick=0, snapshot=seen, workload=load, plan=plan, receipt=done)


def last(analyzer: WindowAnalyzer, *snapshots: Snapshot) -> Workload:
    return history(analyzer, *snapshots)[-1].workload


def reports(processed: Sequence[float], busy: Sequence[float], **more: Sequence[float]) -> ConsumerReports:
    zeros = [0.0] * len(processed)
    return ConsumerReports.of(
        processed_events=floats(processed),
        emitted_events=floats(more.get("emitted_events", zeros)),
        busy_s=floats(busy),
        busy_s2=floats(more.get("busy_s2", zeros)),
        latency_s=floats(more.get("latency_s", zeros)),
        gap_s=floats(more.get("gap_s", zeros)),
        gap_s2=floats(more.get("gap_s2", zeros)),
    )


def test_one_snapshot_alone_has_lag_but_no_rates() -> None:
    load = last(WindowAnalyzer(), snapshot(0.0, [10, 20], [4, 20]))
    assert np.isnan(load.arrival_eps).all()
    assert load.lag_events.tolist() == [6.0, 0.0]
    assert not load.known
    assert load.arrival_bps is None


def test_rates_are_means_over_the_window() -> None:
    seen = [snapshot(float(t), [10.0 * t * t, 5.0 * t]) for t in range(6)]
    assert last(WindowAnalyzer(window_s=1.0), *seen).arrival_eps.tolist() == [90.0, 5.0]
    assert last(WindowAnalyzer(window_s=2.0), *seen).arrival_eps.tolist() == [80.0, 5.0]
    assert last(WindowAnalyzer(window_s=60.0), *seen).arrival_eps.tolist() == [50.0, 5.0]


def test_a_tick_longer_than_the_window_counts_as_a_whole() -> None:
    seen = [snapshot(30.0 * t, [300.0 * t, 0.0]) for t in range(3)]
    assert last(WindowAnalyzer(window_s=1.0), *seen).arrival_eps.tolist() == [10.0, 0.0]


def test_ticks_that_are_a_rounding_error_apart_stay_in_the_window() -> None:
    assert 11 * 0.1 - 1.0 > 1 * 0.1  # by the last bit
    seen = [snapshot(t * 0.1, [t * t, 0.0]) for t in range(12)]
    assert last(WindowAnalyzer(window_s=1.0), *seen).arrival_eps[0] == pytest.approx(120.0)


@pytest.mark.parametrize(
    ("basis", "processed", "expected"),
    [
        (LagBasis.COMMITTED, [95.0, 50.0], [40.0, 10.0]),
        (LagBasis.PROCESSED, [95.0, 50.0], [5.0, 0.0]),
        (LagBasis.PROCESSED, [95.0, np.nan], [5.0, 10.0]),
        (LagBasis.PROCESSED, None, [40.0, 10.0]),
    ],
)
def test_lag_is_counted_from_the_position_asked_for(
    basis: LagBasis, processed: list[float] | None, expected: list[float]
) -> None:
    position = floats(processed) if processed is not None else None
    seen = snapshot(0.0, [100, 50], [60, 40], processed_events=position, lag_basis=basis)
    assert last(WindowAnalyzer(), seen).lag_events.tolist() == expected


def test_lag_is_never_negative_and_never_of_what_retention_has_deleted() -> None:
    seen = snapshot(0.0, [100, 50], [10, 60], start_events=floats([70, 0]))
    assert last(WindowAnalyzer(), seen).lag_events.tolist() == [30.0, 0.0]


def test_without_a_commit_lag_is_unknown_but_of_an_empty_partition_it_is_zero() -> None:
    seen = snapshot(0.0, [100, 50], [np.nan, np.nan], start_events=floats([70, 50]))
    lag = last(WindowAnalyzer(), seen).lag_events
    assert math.isnan(lag[0])
    assert lag[1] == 0.0


def test_offsets_that_go_backwards_make_the_rate_unknown_until_the_next_tick() -> None:
    analyzer = WindowAnalyzer(window_s=10.0)
    before = [snapshot(0.0, [1000, 0]), snapshot(1.0, [1100, 10])]
    recreated = snapshot(2.0, [5, 20], [0, 20])
    load = last(analyzer, *before, recreated)
    assert math.isnan(load.arrival_eps[0])
    assert load.arrival_eps[1] == 10.0
    load = last(analyzer, *before, recreated, snapshot(3.0, [12, 30], [0, 20]))
    assert load.arrival_eps.tolist() == [7.0, 10.0]


def test_a_new_partition_has_no_rate_yet_and_the_old_ones_keep_theirs() -> None:
    more = Assignment(partitions=(Partition("s", 0), *PARTITIONS), consumers=("a",), owner=ints([0, 0, 0]))
    grown = snapshot(1.0, [500, 30, 40], assignment=more)
    rate = last(WindowAnalyzer(), snapshot(0.0, [10, 20]), grown).arrival_eps
    assert math.isnan(rate[0])
    assert rate[1:].tolist() == [20.0, 20.0]


def test_bytes_have_rates_of_their_own() -> None:
    seen = [snapshot(float(t), [t, t], end_bytes=floats([100.0 * t, 900.0 - 300.0 * t])) for t in range(2)]
    bps = last(WindowAnalyzer(), *seen).arrival_bps
    assert bps is not None
    assert bps[0] == 100.0
    assert math.isnan(bps[1])


def test_service_rate_and_variability_come_from_the_counters() -> None:
    # a: 10 events of 0.1 s; b: 10 events, half 0.1 s and half 0.3 s.
    seen = [
        snapshot(0.0, [0, 0], reports=reports([100, 50], [1, 1], busy_s2=[7, 7])),
        snapshot(1.0, [5, 5], reports=reports([110, 60], [2, 3], busy_s2=[7.1, 7.5], emitted_events=[5, 10])),
    ]
    load = last(WindowAnalyzer(service_eps=999.0), *seen)
    assert load.service_eps == pytest.approx(20 / 3)
    assert load.consumer_service_eps is not None
    assert load.consumer_service_eps.tolist() == pytest.approx([10.0, 5.0])
    mean, square = 0.15, 0.6 / 20
    assert load.service_cv == pytest.approx(math.sqrt(square - mean**2) / mean)
    assert load.selectivity == pytest.approx(0.75)


def test_arrivals_of_unequal_even_streams_are_not_bursty() -> None:
    # Consumer a gets an event every 0.1 s, b every second: each stream is perfectly even.
    seen = [
        snapshot(0.0, [0, 0], reports=reports([0, 0], [0, 0])),
        snapshot(10.0, [5, 5], reports=reports([100, 10], [1, 1], gap_s=[10, 10], gap_s2=[1, 10])),
    ]
    assert last(WindowAnalyzer(), *seen).arrival_cv == pytest.approx(0.0, abs=1e-7)


def test_mean_latency_is_of_what_was_processed_since_the_last_tick() -> None:
    seen = [
        snapshot(0.0, [0, 0], reports=reports([0, 0], [0, 0])),
        snapshot(1.0, [0, 0], reports=reports([10, 0], [1, 0], latency_s=[100, 0])),
        snapshot(2.0, [0, 0], reports=reports([14, 1], [2, 1], latency_s=[102, 3])),
    ]
    assert last(WindowAnalyzer(), *seen).latency_mean_s == pytest.approx(1.0)
    idle = replace(seen[-1], time_s=3.0)
    assert last(WindowAnalyzer(), *seen, idle).latency_mean_s is None


def test_idle_consumers_keep_the_rate_last_known_and_the_prior_comes_first() -> None:
    analyzer = WindowAnalyzer(service_eps=50.0, service_window_s=1.0)
    idle = snapshot(0.0, [0, 0], reports=reports([0, 0], [0, 0]))
    assert last(analyzer, idle).service_eps == 50.0
    busy = snapshot(1.0, [0, 0], reports=reports([20, 0], [1, 0]))
    rest = snapshot(2.0, [0, 0], reports=reports([20, 0], [1, 0]))
    load = last(analyzer, idle, busy, rest)
    assert load.service_eps == 20.0
    assert load.consumer_service_eps is not None
    assert load.consumer_service_eps[0] == 20.0
    assert math.isnan(load.consumer_service_eps[1])


def test_a_consumer_that_restarted_is_unknown_never_negative() -> None:
    seen = [
        snapshot(0.0, [0, 0], reports=reports([1000, 0], [10, 0])),
        snapshot(1.0, [0, 0], reports=reports([5, 30], [0.5, 1])),
    ]
    load = last(WindowAnalyzer(), *seen)
    assert load.service_eps == 30.0
    assert load.consumer_service_eps is not None
    # Before it restarted it had served 100 events/s; that is still the last thing known of it.
    assert load.consumer_service_eps.tolist() == [100.0, 30.0]


def test_a_newcomer_is_measured_from_its_start() -> None:
    seen = [
        snapshot(0.0, [0, 0], assignment=group("a"), reports=reports([100], [1])),
        snapshot(1.0, [0, 0], assignment=group("b", "a"), reports=reports([40, 200], [1, 3])),
    ]
    load = last(WindowAnalyzer(), *seen)
    assert load.consumer_service_eps is not None
    assert load.consumer_service_eps.tolist() == [40.0, 50.0]


def test_silent_consumers_are_unknown() -> None:
    seen = snapshot(0.0, [0, 0], reports=reports([np.nan, np.nan], [np.nan, np.nan]))
    load = last(WindowAnalyzer(), seen)
    assert load.service_eps is None
    assert load.service_cv is None


def test_the_rebalance_time_is_a_high_quantile_of_the_pauses_seen() -> None:
    analyzer = WindowAnalyzer(rebalance_s=9.0)
    assert last(analyzer, snapshot(0.0, [0, 0])).rebalance_s == 9.0
    pauses = [None, None, 2.0, 2.0, 0.5, 0.5, 1.0]
    seen = [snapshot(float(t), [0, 0], pause_s=pause) for t, pause in enumerate(pauses)]
    assert last(analyzer, *seen).rebalance_s == 2.0
    assert last(dataclasses.replace(analyzer, rebalance_quantile=0.5), *seen).rebalance_s == 1.0
    assert last(analyzer, *seen[:2]).rebalance_s == 9.0


def test_a_pause_in_a_receipt_counts_too() -> None:
    analyzer = WindowAnalyzer()
    recent = history(analyzer, snapshot(0.0, [0, 0]), pause_s=0.7)
    assert analyzer.analyze(snapshot(1.0, [0, 0]), recent).rebalance_s == 0.7


def test_the_start_up_time_is_the_last_one_known() -> None:
    analyzer = WindowAnalyzer(startup_s=5.0)
    seen = [snapshot(0.0, [0, 0]), snapshot(1.0, [0, 0], startup_s=3.0), snapshot(2.0, [0, 0])]
    assert last(analyzer, *seen[:1]).startup_s == 5.0
    assert last(analyzer, *seen).startup_s == 3.0


def test_burstiness_is_the_peak_tick_over_the_mean() -> None:
    seen = [snapshot(float(t), [end, 0]) for t, end in enumerate([0, 10, 40, 50])]
    assert last(WindowAnalyzer(window_s=3.0), *seen).peak_ratio == pytest.approx(30 / (50 / 3))
    assert last(WindowAnalyzer(window_s=1.0), *seen).peak_ratio is None


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1e6) | st.just(math.nan), st.floats(0, 1e6) | st.just(math.nan), st.floats(1e-3, 100.0)),
        min_size=1,
        max_size=6,
    )
)
def test_whatever_is_seen_nothing_known_is_negative(seen: list[tuple[float, float, float]]) -> None:
    time_s, snapshots = 0.0, []
    for end, committed, step_s in seen:
        time_s += step_s
        snapshots.append(
            snapshot(
                time_s, [end, 0], [committed, 0], end_bytes=floats([end, 0]), reports=reports([end, 1], [committed, 1])
            )
        )
    for made in history(WindowAnalyzer(window_s=50.0), *snapshots):
        load = made.workload
        for values in (load.arrival_eps, load.lag_events, load.arrival_bps, load.consumer_service_eps):
            assert values is not None
            assert not (values < 0).any()
        assert load.service_eps is None or load.service_eps > 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("window_s", 0.0),
        ("burst_period_s", 0.0),
        ("service_eps", -1.0),
        ("rebalance_s", math.nan),
        ("rebalance_quantile", 0.0),
    ],
)
def test_settings_that_make_no_sense_are_refused(field: str, value: float) -> None:
    wrong: dict[str, Any] = {field: value}
    with pytest.raises(InputError, match=field):
        WindowAnalyzer(**wrong)


def test_a_tick_between_two_bursts_keeps_the_rate() -> None:
    analyzer = WindowAnalyzer(bursts=True)
    recent = history(analyzer, snapshot(0, [0, 0]), snapshot(1, [30, 10]), snapshot(2, [30, 10]))
    assert recent[2].workload.arrival_eps == pytest.approx([30, 10])
    # Two empty ticks in a row are a stop.
    assert analyzer.analyze(snapshot(3, [30, 10]), recent).arrival_eps == pytest.approx([0, 0])
    assert analyzer.analyze(snapshot(3, [50, 20]), recent).arrival_eps == pytest.approx([20, 10])


@given(tick_s=st.floats(0.7, 0.999), phase_s=st.floats(0.001, 0.999))
def test_a_known_period_makes_the_rate_exact_whatever_the_ticks(tick_s: float, phase_s: float) -> None:
    """Sixty events a burst, one burst each second: the controller is told 60/s however it ticks."""
    ticks = [n * tick_s for n in range(12)]
    snapshots = [snapshot(t, [60 * math.floor(t + 1 - phase_s), 0]) for t in ticks]
    analyzer = WindowAnalyzer(bursts=True, burst_period_s=1.0, window_s=tick_s)
    # The first tick with a burst in it, and all after it.
    rates = [float(made.workload.arrival_eps[0]) for made in history(analyzer, *snapshots)[3:]]
    assert rates == pytest.approx([60.0] * len(rates))


def test_without_bursts_an_empty_tick_is_a_stop() -> None:
    recent = history(WindowAnalyzer(), snapshot(0, [0, 0]), snapshot(1, [30, 10]), snapshot(2, [30, 10]))
    assert recent[2].workload.arrival_eps == pytest.approx([0, 0])
