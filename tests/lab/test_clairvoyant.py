"""The clairvoyant bound: against every partition of a small set, and against the published cost."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.lab import clairvoyant as module
from sluice.lab.clairvoyant import Clairvoyant, clairvoyant
from sluice.lab.library import find_scenario
from sluice.model.values import IntArray
from sluice.settings.curve import rate_curve

Event = tuple[float, int, float]


def bound(events: list[Event], partitions: int, *, step_s: float = 1.0, latency_s: float = 0.5) -> list[int]:
    events = sorted(events)
    duration_s = max(int(e[0] / step_s) + 1 for e in events) * step_s
    found = clairvoyant(
        time_s=np.array([e[0] for e in events], dtype=np.float64),
        partition=np.array([e[1] for e in events], dtype=np.int64),
        service_s=np.array([e[2] for e in events], dtype=np.float64),
        partitions=partitions,
        duration_s=duration_s,
        latency_s=latency_s,
        step_s=step_s,
    )
    return [int(count) for count in found.consumers]


def by_hand(events: list[Event], partitions: int, step_s: float, latency_s: float) -> int:
    """Tries every way to deal the partitions out; written without looking at the kernel."""

    def good(members: set[int]) -> bool:
        mine = [e for e in sorted(events) if e[1] in members]
        if len({e[1] for e in mine}) <= 1:
            return True
        clock = 0.0
        for time, _, service in mine:
            clock = max(clock, time) + service
            if clock - time > latency_s + 1e-9:
                return False
        return sum(e[2] for e in mine) <= step_s + 1e-9

    return min(len(bins) for bins in set_partitions(list(range(partitions))) if all(good(set(b)) for b in bins))


def set_partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """Every way to deal the items into groups."""
    if not items:
        yield []
        return
    for dealt in set_partitions(items[1:]):
        yield [[items[0]], *dealt]
        for i in range(len(dealt)):
            yield [*dealt[:i], [items[0], *dealt[i]], *dealt[i + 1 :]]


events_strategy = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.9]),
        st.integers(0, 4),
        st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.4, 0.6]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=80, deadline=None)
@given(events_strategy)
def test_no_dealing_is_cheaper(events: list[Event]) -> None:
    assert bound(events, 5) == [by_hand(events, 5, 1.0, 0.5)]


@settings(max_examples=80, deadline=None)
@given(events_strategy)
def test_the_bound_for_many_partitions_lies_below_the_minimum(events: list[Event]) -> None:
    time, item, service = (np.array(column) for column in zip(*sorted(events), strict=True))
    low, high = module._bounds(time, item, service, 1.0, 0.5)
    assert low <= by_hand(events, 5, 1.0, 0.5) <= high


def test_bursts_need_room_for_the_whole_burst() -> None:
    # 5 ms each: 100 events are done within 0.5 s, 101 are not.
    burst = [(0.0, p, 0.005) for p in (0, 1) for _ in range(50)]
    assert bound(burst, 2) == [1]
    assert bound([*burst, (0.0, 0, 0.005)], 2) == [2]


def test_an_empty_step_and_a_hopeless_partition_cost_one_each() -> None:
    assert bound([(2.5, 0, 0.7)], 3) == [1, 1, 1]
    assert bound([(0.0, 0, 0.7), (0.0, 1, 0.1)], 2) == [2]


def one_burst(work: list[float]) -> Clairvoyant:
    return clairvoyant(
        time_s=np.zeros(len(work)),
        partition=np.arange(len(work)),
        service_s=np.array(work),
        partitions=len(work),
        duration_s=1.0,
        latency_s=0.5,
    )


def test_many_partitions_are_exact_where_both_bounds_meet() -> None:
    found = one_burst([0.1] * 30)
    assert (found.consumers.tolist(), found.exact) == ([6], True)
    # Two of 0.2 s share a consumer, three do not: the total work alone would allow 12.
    heavier = one_burst([0.2] * 30)
    assert (heavier.consumers.tolist(), heavier.exact) == ([15], True)


def test_a_burst_on_many_partitions_is_packed_exactly() -> None:
    # First fit puts 0.24 + 0.24 together and needs 10; seven bins of 0.26 + 0.24 are full.
    found = one_burst([0.24] * 7 + [0.26] * 7)
    assert (found.consumers.tolist(), found.exact) == ([7], True)
    awkward = one_burst([0.21, 0.21, 0.29, 0.29, 0.15, 0.15, 0.1, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.2, 0.2])
    assert (awkward.consumers.tolist(), awkward.exact) == ([6], True)


def test_spread_arrivals_on_many_partitions_say_that_they_are_a_bound() -> None:
    found = clairvoyant(
        time_s=np.repeat([0.0, 0.1], 15),
        partition=np.arange(30),
        service_s=np.full(30, 0.2),
        partitions=30,
        duration_s=1.0,
        latency_s=0.5,
    )
    assert found.kind == "lower bound"
    # 6 s of work within 0.1 + 0.5 s need 10; no three partitions of one burst share a consumer.
    assert found.consumers.tolist() == [10]


def workload_a_counts() -> IntArray:
    rate = find_scenario("workload-a").topic[0].rate
    assert rate is not None
    return rate_curve(rate, 600, seed=0).values.astype(np.int64)


def test_workload_a_in_equal_shares_costs_the_published_minimum() -> None:
    # The published packing works with rates: each partition has exactly a fifth of the second's events.
    share_s = workload_a_counts() / 5 * 0.005
    found = clairvoyant(
        time_s=np.repeat(np.arange(600.0), 5),
        partition=np.tile(np.arange(5), 600),
        service_s=np.repeat(share_s, 5),
        partitions=5,
        duration_s=600,
        latency_s=0.5,
    )
    assert found.exact
    assert found.replica_minutes == pytest.approx(28.9, abs=0.1)


@pytest.mark.parametrize("phase_s", [0.0, 0.37, 0.8])
def test_workload_a_in_whole_events_is_a_little_cheaper(phase_s: float) -> None:
    # 168 events are 34 + 34 + 34 + 33 + 33: 34 + 33 + 33 fit in one consumer, three times 33.6 would not.
    counts = workload_a_counts()
    time_s = np.repeat(phase_s + 1.001 * np.arange(600), counts)
    found = clairvoyant(
        time_s=time_s,
        partition=np.arange(len(time_s)) % 5,
        service_s=np.full(len(time_s), 0.005),
        partitions=5,
        duration_s=600,
        latency_s=0.5,
    )

    def fewest(events: int) -> int:
        share = [events // 5 + (p < events % 5) for p in range(5)]
        dealt = set_partitions(list(range(5)))
        return min(len(bins) for bins in dealt if all(sum(share[p] for p in b) <= 100 for b in bins))

    cost = {events: fewest(events) for events in set(counts.tolist())}
    assert found.exact
    assert found.replica_minutes == pytest.approx(sum(cost[c] for c in counts.tolist()) / 60, abs=0.05)
    assert 28.5 < found.replica_minutes < 28.7
