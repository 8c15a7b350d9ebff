"""Rscore, CBS, Pareto front: the definitions' own examples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.theory.packing import cbs, pareto_front, rscore


def test_three_partitions_of_a_full_bin_each() -> None:
    # The worked example: three partitions of 100 B/s move, C = 100 B/s.
    assert rscore([100.0, 100.0, 100.0, 40.0], [0, 0, 1, 1], [1, 2, 0, 1], 100.0) == 3.0


def test_first_assignments_and_departures_are_no_migrations() -> None:
    assert rscore([10.0, 20.0, 30.0], [-1, 0, 0], [0, -1, 0], 100.0) == 0.0
    assert rscore([], [], [], 100.0) == 0.0
    with pytest.raises(InputError, match="capacity = 0"):
        rscore([1.0], [0], [1], 0.0)


def test_excess_over_the_fewest_of_any() -> None:
    assert cbs({"a": [4, 5], "b": [4, 4], "c": [8, 6]}) == {"a": 0.125, "b": 0.0, "c": 0.75}
    assert cbs({"a": [0, 2], "b": [0, 1]}) == {"a": 0.5, "b": 0.0}
    with pytest.raises(InputError, match="same number of steps"):
        cbs({})
    with pytest.raises(InputError, match="same number of steps"):
        cbs({"a": []})
    with pytest.raises(InputError, match="same number of steps"):
        cbs({"a": [1, 2], "b": [1]})


def test_a_front_with_equals() -> None:
    points = [(0.0, 3.0), (1.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 0.5)]
    assert pareto_front(points).tolist() == [True, True, True, False, True]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_a_front_holds_what_nobody_beats(points: list[tuple[int, int]]) -> None:
    front = pareto_front(points)
    assert front.any()
    for point, on_front in zip(points, front.tolist(), strict=True):
        beaten = any(q != point and q[0] <= point[0] and q[1] <= point[1] for q in points)
        assert on_front is not beaten


def test_front_takes_arrays() -> None:
    assert pareto_front(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]])).tolist() == [True, False]
