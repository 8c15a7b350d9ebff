"""Lag in seconds against the age of the oldest waiting event, event by event."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.theory.lag_time import lag_seconds


@given(
    gaps=st.lists(st.floats(0.01, 3.0), min_size=1, max_size=80),
    done_ratio=st.floats(0.0, 1.0),
    step_s=st.floats(0.2, 2.0),
)
def test_it_is_the_age_of_the_oldest_waiting_event_to_within_one_reading(
    gaps: list[float], done_ratio: float, step_s: float
) -> None:
    arrival = np.cumsum(gaps)
    now = float(arrival[-1])
    time_s = np.unique(np.append(np.arange(0.0, now, step_s), now))
    ends = np.searchsorted(arrival, time_s, side="right").astype(np.float64)
    done = int(done_ratio * len(arrival))
    found = lag_seconds(time_s, ends[:, None], np.array([float(done)]))[0]
    if done == len(arrival):
        assert found == 0.0
        return
    # Counted from the reading before the oldest waiting event arrived: the end may have stood there for a while.
    passed = now - arrival[done]
    reading_before = now - time_s[np.flatnonzero(ends <= done)[-1]]
    assert passed - step_s - 1e-6 <= found <= reading_before + 1e-6


@given(data=st.data(), readings=st.integers(1, 6), partitions=st.integers(1, 4))
def test_never_negative_never_nan_where_the_offsets_are_known(
    data: st.DataObject, readings: int, partitions: int
) -> None:
    offset = st.integers(0, 10**6).map(float)
    maybe = offset | st.just(float("nan"))
    rows = data.draw(
        st.lists(st.lists(maybe, min_size=partitions, max_size=partitions), min_size=readings, max_size=readings)
    )
    position = np.array(data.draw(st.lists(maybe, min_size=partitions, max_size=partitions)))
    ends = np.array(rows)
    found = lag_seconds(np.linspace(1e9, 1e9 + 1.5 * readings, readings), ends, position)
    known = np.isfinite(position) & np.isfinite(ends[-1])
    assert (np.isfinite(found) == known).all()
    assert (found[known] >= 0).all()
    assert (found[known & (ends[-1] <= position)] == 0).all()
    assert (found[known & (ends[-1] > position)] >= 0).all()


def test_an_idle_partition_with_a_backlog_gets_older_with_time() -> None:
    ends = np.array([[10.0], [10.0], [10.0]])
    assert lag_seconds(np.array([0.0, 1.0, 2.0]), ends, np.array([4.0]))[0] == 2.0
    assert lag_seconds(np.array([0.0, 1.0, 5.0]), ends, np.array([4.0]))[0] == 5.0


def test_an_idle_partition_whose_backlog_came_inside_the_window_is_as_old_as_that() -> None:
    ends = np.array([[4.0], [10.0], [10.0], [10.0]])
    found = lag_seconds(np.array([0.0, 1.0, 2.0, 3.0]), ends, np.array([4.0]))[0]
    assert found == 3.0  # the end was at 4 until second 0 at least, not longer
    assert lag_seconds(np.array([0.0, 1.0, 2.0, 3.0]), ends, np.array([7.0]))[0] == 2.5


def test_a_position_older_than_the_readings_is_carried_back_at_the_mean_rate() -> None:
    ends = np.array([[100.0], [110.0]])
    assert lag_seconds(np.array([0.0, 1.0]), ends, np.array([50.0]))[0] == pytest.approx(6.0)
