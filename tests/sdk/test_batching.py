"""Batches end by count, by bytes or by time, and forget what was taken away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.model import Partition
from sluice.sdk.batching import Batch, Gathered
from sluice.sdk.event import Event

P, Q = Partition("t", 0), Partition("t", 1)


def event(partition: Partition, offset: int, size: int = 10) -> Event:
    return Event(partition, offset, None, b"x" * size, 0.0)


def test_each_limit_ends_a_batch() -> None:
    by_count = Gathered(Batch(max_events=2, max_wait_s=9.0))
    by_count.add([event(P, 0)], 0.0)
    assert not by_count.ready(1.0)
    by_count.add([event(P, 1)], 1.0)
    assert by_count.ready(1.0)

    by_bytes = Gathered(Batch(max_bytes=15, max_wait_s=9.0))
    by_bytes.add([event(P, 0)], 0.0)
    assert not by_bytes.ready(1.0)
    by_bytes.add([event(P, 1)], 1.0)
    assert by_bytes.ready(1.0)

    by_time = Gathered(Batch(max_wait_s=2.0))
    assert not by_time.ready(100.0)
    by_time.add([event(P, 0)], 100.0)
    by_time.add([event(P, 1)], 101.9)
    assert not by_time.ready(101.9)
    assert by_time.ready(102.0)
    assert by_time.take() == [event(P, 0), event(P, 1)]
    assert not by_time.ready(200.0)


def test_a_partition_that_was_taken_away_leaves_the_batch() -> None:
    gathered = Gathered(Batch(max_bytes=25, max_wait_s=1.0))
    gathered.add([event(P, 0), event(Q, 0), event(P, 1)], 0.0)
    assert gathered.ready(0.0)
    gathered.forget(P)
    assert not gathered.ready(0.5)
    assert gathered.take() == [event(Q, 0)]


@given(polls=st.lists(st.lists(st.integers(0, 40), max_size=5)), max_bytes=st.integers(1, 100), count=st.integers(1, 8))
def test_batches_together_are_the_events(polls: list[list[int]], max_bytes: int, count: int) -> None:
    gathered = Gathered(Batch(max_events=count, max_bytes=max_bytes, max_wait_s=3.0))
    sent: list[Event] = []
    got: list[Event] = []
    for now, sizes in enumerate(polls):
        brought = [event(P, len(sent) + i, size) for i, size in enumerate(sizes)]
        sent += brought
        gathered.add(brought, float(now))
        if gathered.ready(float(now)):
            got += gathered.take()
        # What is left is below every limit.
        assert len(gathered.events) < count
        assert sum(e.size_bytes for e in gathered.events) < max_bytes
    assert got + gathered.take() == sent


@pytest.mark.parametrize("wrong", [{"max_events": 0}, {"max_bytes": 0}, {"max_wait_s": -1.0}])
def test_bad_limits_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match=f"batch.{next(iter(wrong))} is"):
        Batch(**wrong)
