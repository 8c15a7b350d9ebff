"""The policies that only say how many, against numbers worked out by hand."""

from typing import Any

import pytest
from tests.plan.contexts import context, workload
from tests.plan.driving import changes, drive

from sluice.errors import InputError
from sluice.model import Action, Workload, replace
from sluice.plan.flas import Flas
from sluice.plan.gigk import Gigk
from sluice.plan.mm1_buffer import Mm1Buffer, by_queue_model
from sluice.plan.registry import make_policy
from sluice.plan.threshold import Threshold
from sluice.theory.queueing import mmc_response_s

TEN = [i % 2 for i in range(10)]


def steady(rate: float = 0.0, lag: float = 0.0, consumers: int = 2, **more: Any) -> Workload:
    """Ten partitions of a group with μ = 58 events/s."""
    owner = [i % consumers for i in range(10)]
    load = workload([rate / 10] * 10, [lag / 10] * 10, owner=owner, consumers=consumers)
    return replace(load, service_eps=58.0, **more)


# --- M/M/1 and the buffer


@pytest.mark.parametrize(
    ("rate", "count"),
    [(0, 0), (56, 1), (56.1, 2), (112, 2), (500, 9), (504, 9), (505, 10)],
)
def test_the_queue_model_divides_by_the_spare_rate(rate: float, count: int) -> None:
    # μ - 1/T_a = 58 - 2 = 56 events/s a consumer.
    assert by_queue_model(rate, 58.0, 0.5) == count


def test_an_objective_below_the_service_time_is_a_bound_and_a_verdict() -> None:
    assert by_queue_model(1.0, 2.0, 0.5) is None
    slow = replace(steady(10.0), service_eps=2.0)
    made = drive(make_policy("mm1-buffer"), lambda _: slow, range(3))
    assert changes(made) == [(1, 10)]
    assert str(made[-1].plan.warnings[0]) == (
        "service alone takes 0.5 s along g: no number of consumers keeps the objective of 0.5 s; bounded at 10"
    )


def test_growing_takes_two_opinions_in_a_row_and_then_rests() -> None:
    # Queue model: ⌈250/56⌉ = 5. Buffer: empty, one less.
    made = drive(Mm1Buffer(), lambda t: steady(250.0 if t != 1 else 100.0), range(20))
    assert changes(made) == [(3, 5)]


def test_the_buffer_alone_can_ask_for_more() -> None:
    # B_t = 1.95 · 58 · 2 = 226.2; 2 + 1.5 · (600 - 226.2)/226.2 = 4.48 → 4.
    assert changes(drive(Mm1Buffer(), lambda _: steady(100.0, 600.0), range(3))) == [(1, 4)]
    # 2 + 1.5 · (377 - 226.2)/226.2 = 3.0 exactly; a shade below rounds to 3 as well, 2.5 rounds half up.
    assert changes(drive(Mm1Buffer(), lambda _: steady(100.0, 301.6), range(3))) == [(1, 3)]


def test_shrinking_takes_ten_opinions_and_the_mean_of_the_last_three() -> None:
    # Five consumers; the queue model asks for 4, later for 2; the empty buffer for 5 - 1.5 → 4.
    made = drive(Mm1Buffer(), lambda t: steady(200.0 if t < 8 else 90.0, consumers=5), range(12))
    # At the tenth tick the last three opinions are max(2, 4), max(2, 4), max(4, 4).
    assert changes(made) == [(9, 4)]


def test_only_the_last_three_opinions_count_when_shrinking() -> None:
    # The queue model asks for the eight there are, then for two; the empty buffer for 8 - 1.5 → 7 all along.
    made = drive(Mm1Buffer(), lambda t: steady(448.0 if t < 7 else 90.0, consumers=8), range(10))
    assert changes(made) == [(9, 7)]


def test_half_an_instance_is_rounded_up() -> None:
    made = drive(Mm1Buffer(), lambda t: steady(250.0 if t < 1 else 200.0), range(2))
    assert changes(made) == [(1, 5)]  # the mean of 5 and 4


def test_after_scaling_ten_seconds_count_for_nothing() -> None:
    made = drive(Mm1Buffer(), lambda t: steady(150.0 if t < 2 else 500.0), range(20))
    # 3 at 1 s; the rest ends at 11 s, and the second opinion from then on is at 12 s.
    assert changes(made) == [(1, 3), (12, 9)]


def test_a_gap_in_the_data_ends_a_run_of_opinions() -> None:
    blind = replace(steady(250.0), service_eps=None)
    policy = Mm1Buffer(up_react_w=3)
    past = drive(policy, lambda _: steady(250.0), range(2))
    gap = replace(past[1], workload=blind)
    now = replace(steady(250.0), time_s=3.0)
    assert policy.plan(context(now, recent=[past[0], gap])).action is Action.HOLD
    assert policy.plan(context(now, recent=past)).action is Action.UP


# --- FLAS


def test_flas_needs_two_ticks_beyond_a_threshold() -> None:
    made = drive(Flas(), lambda t: steady(latency_mean_s=0.6 if t in (1, 3, 4) else 0.3), range(8))
    assert changes(made) == [(4, 4)]
    made = drive(Flas(lower_ratio=0.2), lambda _: steady(latency_mean_s=0.09, consumers=4), range(6))
    assert changes(made) == [(1, 3), (3, 2), (5, 1)]


def test_flas_does_not_take_silence_for_speed() -> None:
    policy = Flas(lower_ratio=0.2)
    past = drive(policy, lambda _: steady(latency_mean_s=0.05), range(1))
    silent = [replace(past[0], workload=replace(past[0].workload, latency_mean_s=None))]
    now = replace(steady(latency_mean_s=0.05), time_s=1.0)
    assert policy.plan(context(now, recent=silent)).action is Action.HOLD
    assert policy.plan(context(now, recent=past)).action is Action.DOWN


# --- threshold


@pytest.mark.parametrize(("lag", "count"), [(0, 1), (50, 1), (51, 2), (150, 2), (151, 3)])
def test_threshold_moves_one_at_a_time(lag: float, count: int) -> None:
    assert Threshold().plan(context(steady(lag=lag))).target.count == count


def test_threshold_keeps_its_bounds() -> None:
    full = workload([0.0], [1e6], owner=[-1], consumers=15)
    assert Threshold().plan(context(full)).action is Action.HOLD
    assert Threshold(k_max=16).plan(context(full)).target.count == 16
    assert Threshold().plan(context(workload([0.0], [0.0], owner=[-1], consumers=1))).action is Action.HOLD


# --- GI/G/k


@pytest.mark.parametrize("rate", [1.0, 30.0, 57.0, 100.0, 200.0, 300.0])
def test_gigk_takes_the_fewest_instances_that_keep_the_objective(rate: float) -> None:
    load = replace(workload([rate], owner=[-1], consumers=1), service_eps=58.0, arrival_cv=1.0, service_cv=1.0)
    count = Gigk().plan(context(load, latency_s=0.05)).target.count
    # The approximation is within a few per cent of the exact M/M/k.
    assert mmc_response_s(rate, 58.0, count) <= 0.05 * 1.05
    assert count == 1 or mmc_response_s(rate, 58.0, count - 1) > 0.05 * 0.95


def test_gigk_wants_more_for_a_bursty_stream() -> None:
    even = replace(workload([100.0], owner=[-1], consumers=1), service_eps=58.0, arrival_cv=0.0, service_cv=0.0)
    bursty = replace(even, arrival_cv=5.0, service_cv=2.0)
    # Without variability nobody waits: two that keep up are enough.
    assert Gigk().plan(context(even, latency_s=0.02)).target.count == 2
    assert Gigk().plan(context(bursty, latency_s=0.02)).target.count > 3


def test_gigk_out_of_reach_is_a_bound_and_a_verdict() -> None:
    load = replace(workload([100.0], owner=[-1], consumers=1), service_eps=10.0)
    plan = Gigk(k_max=12).plan(context(load, latency_s=0.05))
    assert plan.target.count == 12
    assert "out of reach" in str(plan.warnings[0])
    swamped = Gigk(k_max=5).plan(context(load, latency_s=10.0))
    assert swamped.target.count == 5
    assert "no finite time" in str(swamped.warnings[0])


def test_gigk_can_use_the_formula_as_printed() -> None:
    # Below 0.7 the two differ by what they take for the chance that all are busy.
    load = replace(workload([60.0], owner=[-1], consumers=1), service_eps=58.0, arrival_cv=3.0, service_cv=3.0)
    counts = {p: Gigk(printed_formula=p).plan(context(load, latency_s=0.0195)).target.count for p in (False, True)}
    assert counts[True] != counts[False]


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Mm1Buffer(up_react_w=0), "up_react_w"),
        (lambda: Mm1Buffer(buffer_factor_s=0.0), "buffer_factor_s"),
        (lambda: Mm1Buffer(rest_s=-1.0), "rest_s"),
        (lambda: Mm1Buffer(k_max=0), "k_max"),
        (lambda: Flas(lower_ratio=1.0), "lower_ratio"),
        (lambda: Flas(window=0), "window"),
        (lambda: Flas(step_up=0), "step_up"),
        (lambda: Threshold(t_in=150.0), "t_in"),
        (lambda: Threshold(k_max=0), "k_max"),
        (lambda: Gigk(k_max=0), "k_max"),
        (lambda: Gigk(balancer="even"), "balancer 'even' is unknown"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make: object, field: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=field):
        make()
