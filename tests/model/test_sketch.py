"""The latency sketch against exact quantiles, and its arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.model.sketch import GROWTH, SMALLEST_S, LatencySketch

latencies = st.lists(st.floats(min_value=-1.0, max_value=1e4), max_size=60)


@given(values=latencies.filter(bool), ratio=st.floats(min_value=0.0, max_value=1.0))
def test_a_quantile_is_right_to_within_half_a_bucket(values: list[float], ratio: float) -> None:
    exact = max(float(np.quantile(values, ratio, method="inverted_cdf")), SMALLEST_S)
    found = LatencySketch.of(values).quantile_s(ratio)
    assert found is not None
    assert found == pytest.approx(exact, rel=GROWTH**0.5 - 1 + 1e-6)


@given(first=latencies, second=latencies)
def test_adding_and_subtracting_are_those_of_the_events(first: list[float], second: list[float]) -> None:
    both = LatencySketch.of([*first, *second])
    assert LatencySketch.of(first).plus(LatencySketch.of(second)) == both
    assert both.minus(LatencySketch.of(first)) == LatencySketch.of(second)
    assert both.total == len(first) + len(second)


@given(values=latencies.filter(bool), limit=st.floats(min_value=1e-4, max_value=1e4))
def test_the_share_within_a_limit_is_off_by_the_limits_own_bucket_at_most(values: list[float], limit: float) -> None:
    found = LatencySketch.of(values).within_ratio(limit)
    assert found is not None
    array = np.maximum(np.array(values), SMALLEST_S)
    assert np.mean(array <= limit / GROWTH) - 1e-9 <= found <= np.mean(array <= limit * GROWTH) + 1e-9


def test_nothing_measured_is_unknown_and_nonsense_is_refused() -> None:
    empty = LatencySketch.empty()
    assert empty.quantile_s(0.99) is None
    assert empty.within_ratio(1.0) is None
    with pytest.raises(InputError, match="not of the same counter"):
        empty.minus(LatencySketch.of([1.0]))
    with pytest.raises(InputError, match="not between 0 and 1"):
        empty.quantile_s(99)
    with pytest.raises(InputError, match="not a finite number"):
        LatencySketch.of([float("nan")])
