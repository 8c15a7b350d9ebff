"""Least-Loaded against a plain transcription of its rule, and what it promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.theory.arrays import FloatArray
from sluice.theory.packing import bins_needed, least_loaded, lower_bound, spread
from sluice.theory.packing.many import pack_many

# Quarters and tenths: exact ties in one or both dimensions, sums that hit the capacity, rounding that just misses it.
NUMBERS = st.one_of(
    st.integers(0, 5).map(lambda i: i / 4),
    st.integers(0, 11).map(lambda i: i / 10),
    st.floats(0.0, 1.2, allow_nan=False),
)
ITEMS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=24)


def by_the_rule(rate: FloatArray, lag: FloatArray, at_least: int = 1) -> tuple[list[int], int]:
    """For k = 1, 2, … bins of capacity 1 and 1, each item to the least (rate, lag, number) where it fits."""
    oversize = [i for i in range(len(rate)) if rate[i] > 1.0 or lag[i] > 1.0]
    items = sorted(set(range(len(rate))) - set(oversize), key=lambda i: (-rate[i], -lag[i], i))
    owner = [-1] * len(rate)
    count = max(at_least - len(oversize) - 1, 0) if items else 0
    placed = not items
    while not placed:
        count += 1
        load = [(0.0, 0.0, b) for b in range(count)]
        placed = True
        for i in items:
            open_to = [bin_ for bin_ in load if bin_[0] + rate[i] <= 1.0 and bin_[1] + lag[i] <= 1.0]
            if not open_to:
                placed = False
                break
            r, g, b = min(open_to)
            load[b] = (r + rate[i], g + lag[i], b)
            owner[i] = b
    for i in oversize:
        owner[i] = count
        count += 1
    return owner, count


@given(ITEMS, st.integers(1, 30))
def test_few_items_follow_the_rule(items: list[tuple[float, float]], at_least: int) -> None:
    rate, lag = np.array([r for r, _ in items]), np.array([g for _, g in items])
    packing = least_loaded(rate, lag, rate_capacity=1.0, lag_capacity=1.0, at_least=at_least)
    assert (packing.bins.tolist(), packing.count) == by_the_rule(rate, lag, at_least)
    assert bins_needed(rate, lag, 1.0, 1.0) == by_the_rule(rate, lag)[1]
    assert packing.oversize.tolist() == [r > 1.0 or g > 1.0 for r, g in items]


@given(ITEMS, st.integers(1, 30))
def test_the_way_for_many_items_follows_the_rule_with_few(items: list[tuple[float, float]], at_least: int) -> None:
    rate, lag = np.array([r for r, _ in items]), np.array([g for _, g in items])
    bins, oversize, count = pack_many(rate.copy(), lag.copy(), 1.0, 1.0, at_least)
    assert (bins.tolist(), count) == by_the_rule(rate, lag, at_least)
    assert oversize.tolist() == [r > 1.0 or g > 1.0 for r, g in items]


def many_items(kind: str, seed: int, n: int) -> tuple[FloatArray, FloatArray]:
    draw = np.random.default_rng(seed)
    match kind:
        case "small":
            return draw.uniform(0, 0.06, n), draw.uniform(0, 0.03, n)
        case "ties":
            return draw.integers(0, 9, n) / 64, draw.integers(0, 9, n) / 64
        case "skewed":
            return np.minimum(draw.lognormal(-3.5, 1.0, n), 1.1), np.minimum(draw.lognormal(-3.5, 1.0, n), 1.0)
        case "idle":
            return draw.uniform(0, 0.5, n) * (draw.random(n) < 0.3), np.zeros(n)
    # Many bins with little rate and no room for lag: the search must step over more of them than it keeps near.
    assert kind == "lag full at the front"
    half = n // 2
    rate = np.concatenate([draw.uniform(0.5, 0.6, half), draw.uniform(0, 0.1, n - half)])
    return rate, np.concatenate([draw.choice([0.1, 0.95], half), draw.choice([0.0, 0.1, 0.5], n - half)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["small", "ties", "skewed", "idle", "lag full at the front"])
def test_many_items_follow_the_rule(kind: str, seed: int) -> None:
    rate, lag = many_items(kind, seed, 260)
    packing = least_loaded(rate, lag, rate_capacity=1.0, lag_capacity=1.0)
    assert (packing.bins.tolist(), packing.count) == by_the_rule(rate, lag)
    assert bins_needed(rate, lag, 1.0, 1.0) == packing.count


@settings(max_examples=8)
@given(st.integers(1001, 1500), st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.3, 1.0]))
def test_more_items_than_are_searched_one_by_one(n: int, seed: int, top: float) -> None:
    draw = np.random.default_rng(seed)
    rate = draw.uniform(0, top, n)
    lag = rate * draw.uniform(0, 1, n)
    packing = least_loaded(rate, lag, rate_capacity=1.0, lag_capacity=1.0)
    assert lower_bound(np.column_stack([rate, lag]), 1.0) <= packing.count <= n
    for load in (rate, lag):
        assert np.bincount(packing.bins, weights=load, minlength=packing.count).max() <= 1.0 + 1e-9
    # The rule, with as many bins, places every item the same way; with one less it leaves an item over.
    assert by_the_rule(rate, lag, packing.count) == (packing.bins.tolist(), packing.count)
    assert by_the_rule(rate, lag, packing.count - 1)[1] == packing.count


def test_equal_rates_are_told_apart_by_lag() -> None:
    # Hundreds of bins of the same rate wait in no order of lag: sorting by rate alone does not get far.
    lag = np.random.default_rng(4).uniform(0, 0.2, 1200)
    rate = np.full(1200, 0.25)
    packing = least_loaded(rate, lag, rate_capacity=1.0, lag_capacity=1.0)
    assert packing.count == 300
    assert by_the_rule(rate, lag, 300) == (packing.bins.tolist(), 300)


def test_thousands_of_bins_follow_the_rule() -> None:
    # Rate and lag unrelated: every other item has to step over crowds of bins that have no room for its lag.
    draw = np.random.default_rng(11)
    rate, lag = draw.integers(0, 400, 6000) / 400, draw.integers(0, 400, 6000) / 400
    packing = least_loaded(rate, lag, rate_capacity=1.0, lag_capacity=1.0)
    rates, lags = np.zeros(packing.count), np.zeros(packing.count)
    expected = np.empty(6000, dtype=np.int64)
    for i in np.lexsort((-lag, -rate)).tolist():
        open_to = np.flatnonzero((rates + rate[i] <= 1.0) & (lags + lag[i] <= 1.0))
        b = open_to[np.lexsort((lags[open_to], rates[open_to]))[0]]
        rates[b] += rate[i]
        lags[b] += lag[i]
        expected[i] = b
    assert packing.count > 2000
    assert np.array_equal(packing.bins, expected)


def test_capacities_scale_and_an_oversize_item_sits_alone() -> None:
    packing = least_loaded([250.0, 100.0, 0.0, 90.0], [0.0, 10.0, 60.0, 5.0], rate_capacity=200.0, lag_capacity=50.0)
    assert packing.oversize.tolist() == [True, False, True, False]
    assert packing.bins.tolist() == [1, 0, 2, 0]
    assert packing.count == 3


def test_nothing_to_pack() -> None:
    packing = least_loaded([], [], rate_capacity=1.0, lag_capacity=1.0)
    assert (packing.bins.tolist(), packing.count, packing.oversize.tolist()) == ([], 0, [])


def test_idle_items_need_one_bin() -> None:
    assert least_loaded([0.0] * 70, [0.0] * 70, rate_capacity=1.0, lag_capacity=1.0).count == 1
    assert least_loaded([0.0] * 3, [0.0] * 3, rate_capacity=1.0, lag_capacity=1.0).count == 1


def test_minus_zero_is_zero() -> None:
    rate = np.where(np.arange(200) % 2 == 0, -0.0, 0.25)
    lag = np.full(200, 0.125)
    assert np.array_equal(
        least_loaded(rate, lag, rate_capacity=1.0, lag_capacity=1.0).bins,
        least_loaded(np.abs(rate), lag, rate_capacity=1.0, lag_capacity=1.0).bins,
    )


@pytest.mark.parametrize(
    ("rate", "lag", "rate_capacity", "lag_capacity", "message"),
    [
        ([1.0, float("nan")], [0.0, 0.0], 1.0, 1.0, r"rate\[1\] = nan"),
        ([1.0] * 80, [0.0] * 79 + [-2.0], 1.0, 1.0, r"lag\[79\] = -2.0"),
        ([float("inf")], [0.0], 1.0, 1.0, r"rate\[0\] = inf"),
        ([1.0], [1.0], 0.0, 1.0, "rate_capacity = 0.0"),
        ([1.0], [1.0], 1.0, float("nan"), "lag_capacity = nan"),
        ([1.0], [1.0, 2.0], 1.0, 1.0, "shape"),
    ],
)
def test_bad_input_is_named(
    rate: list[float], lag: list[float], rate_capacity: float, lag_capacity: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        least_loaded(rate, lag, rate_capacity=rate_capacity, lag_capacity=lag_capacity)


@given(ITEMS.filter(bool), st.integers(1, 30))
def test_spread_uses_every_bin_it_can(items: list[tuple[float, float]], count: int) -> None:
    rate, lag = np.array([r for r, _ in items]), np.array([g for _, g in items])
    bins = spread(rate, lag, count)
    assert bins.min() >= 0
    assert bins.max() < count
    assert len(np.unique(bins)) == min(count, len(items))


@pytest.mark.parametrize("n", [40, 200])
def test_spread_takes_the_least_loaded_bin(n: int) -> None:
    draw = np.random.default_rng(n)
    rate, lag = draw.integers(1, 20, n) / 16, draw.integers(0, 20, n) / 16
    load = [(0.0, 0.0, b) for b in range(7)]
    expected = [-1] * n
    for i in sorted(range(n), key=lambda i: (-rate[i], -lag[i], i)):
        r, g, b = min(load)
        load[b] = (r + rate[i], g + lag[i], b)
        expected[i] = b
    assert spread(rate, lag, 7).tolist() == expected


def test_spread_deals_idle_items_to_the_bins_with_the_fewest() -> None:
    bins = spread([4.0, 3.0, 3.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 9, 3)
    assert bins[:4].tolist() == [0, 1, 2, 1]
    assert bins[4:].tolist() == [0, 2, 0, 1, 2]
    with pytest.raises(InputError, match="count = 0"):
        spread([1.0], [1.0], 0)
