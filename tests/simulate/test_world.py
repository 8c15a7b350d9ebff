"""What holds for every world: nothing is lost, time does not matter, order does not matter, states can be copied."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulate.scripted import Kept, scripted
from tests.simulate.worlds import one_group, served_s

from sluice.analyze.window import WindowAnalyzer
from sluice.errors import InputError
from sluice.model import LagBasis
from sluice.model.values import floats, ints
from sluice.simulate import (
    Burst,
    Even,
    ExponentialService,
    FixedService,
    GroupSpec,
    LognormalSize,
    Mmpp,
    Output,
    PerByteService,
    Poisson,
    Protocol,
    Rates,
    Recorded,
    RoundRobin,
    Source,
    Weights,
    World,
    WorldSpec,
    ZipfKeys,
    simulate,
)
from sluice.simulate.arrivals import Arrivals
from sluice.simulate.choice import Choice
from sluice.simulate.stages import SimulatedMonitor
from sluice.simulate.state import Arriving, GroupState
from sluice.simulate.stream import EventStream

RATES = Rates(eps=floats([30, 90, 0, 200, 60]))
ARRIVALS: list[Arrivals] = [
    Burst(rates=RATES, period_s=1.001),
    Even(rates=RATES),
    Poisson(rates=RATES),
    Mmpp(states_eps=(20.0, 300.0), mean_dwell_s=(1.0, 0.3), duration_s=5.0),
]
CHOICES: list[Choice] = [RoundRobin(), Weights(weights=(0.7, 0.1, 0.2)), ZipfKeys(keys=50, exponent=1.1)]


@settings(max_examples=60)
@given(
    arrivals=st.sampled_from(ARRIVALS),
    choice=st.sampled_from(CHOICES),
    protocol=st.sampled_from([Protocol.EAGER, Protocol.COOPERATIVE, Protocol.HANDOVER]),
    script=st.dictionaries(st.integers(0, 4), st.lists(st.integers(0, 2), min_size=3, max_size=3), max_size=4),
    max_poll=st.sampled_from([1, 7, 500]),
    seed=st.integers(0, 5),
)
def test_every_event_is_served_once_and_offsets_add_up(
    arrivals: Arrivals,
    choice: Choice,
    protocol: Protocol,
    script: dict[int, list[int]],
    max_poll: int,
    seed: int,
) -> None:
    spec = one_group(
        arrivals,
        partitions=3,
        choice=choice,
        duration_s=6.0,
        protocol=protocol,
        max_poll_events=max_poll,
        heartbeat_s=0.7,
        startup_s=(0.1, 0.9),
        service=ExponentialService(mean_s=0.01),
    )
    kept = Kept()
    result = simulate(spec, seed=seed, make_loop=lambda m, e: scripted(script, kept, m, e))["g"]
    events = EventStream(spec.sources[0], seed).take(np.inf)
    latency_s = result.latencies.exact_s
    assert latency_s is not None
    assert result.events == len(events.time_s) == len(latency_s)
    assert (latency_s > 0).all()
    assert result.late_events == int((latency_s > 0.5 + 1e-9).sum())
    assert result.mean_s == pytest.approx(latency_s.mean())
    assert result.max_s == latency_s.max()
    for decision in kept:
        seen = decision.snapshot
        assert seen.processed_events is not None
        assert (seen.committed_events <= seen.processed_events).all()
        assert (seen.processed_events <= seen.end_events).all()
        assert seen.end_events.sum() == (events.time_s < seen.time_s).sum()
    for before, after in itertools.pairwise(kept):
        assert (before.snapshot.committed_events <= after.snapshot.committed_events).all()


@pytest.mark.parametrize("arrivals", ARRIVALS, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("choice", CHOICES, ids=lambda c: type(c).__name__)
def test_how_events_are_taken_does_not_change_them(arrivals: Arrivals, choice: Choice) -> None:
    source = Source(topic="t", partitions=3, arrivals=arrivals, choice=choice, sizes=LognormalSize(mean_bytes=80, cv=2))
    whole = EventStream(source, 4).take(np.inf)
    stream = EventStream(source, 4)
    pieces = [stream.take(t) for t in (0.5, 0.5, 1.7, 3.3, np.inf)]
    for column in range(3):
        np.testing.assert_array_equal(whole[column], np.concatenate([piece[column] for piece in pieces]))
    assert (np.diff(whole.time_s) >= 0).all()


def test_shares_of_a_burst_can_be_rounded_up() -> None:
    source = Source(
        topic="t", partitions=3, arrivals=Burst(rates=RATES), choice=Weights(weights=(7, 1, 2), round_up=True)
    )
    stream = EventStream(source, 1)
    bursts = [stream.take(float(second)) for second in range(1, 6)]
    # 30, 90, 0, 200 and 60 events in shares of 0.7, 0.1 and 0.2.
    counts = [np.bincount(burst.partition, minlength=3).tolist() for burst in bursts]
    assert counts == [[21, 3, 6], [63, 9, 18], [0, 0, 0], [140, 20, 40], [42, 6, 12]]
    uneven = Weights(weights=(1, 1, 1), round_up=True).rounded_up(np.repeat([0.5, 1.5], [4, 6]))
    assert uneven[0].tolist() == [0.5] * 6 + [1.5] * 6
    assert uneven[1].tolist() == [0, 0, 1, 1, 2, 2] * 2


def test_the_same_seed_gives_the_same_run_and_another_one_another() -> None:
    spec = one_group(Poisson(rates=RATES), partitions=3, duration_s=6.0, service=ExponentialService(mean_s=0.01))

    def latencies(seed: int) -> list[float]:
        result = simulate(spec, seed=seed, make_loop=lambda m, e: scripted({2: [0, 1, 1]}, Kept(), m, e))["g"]
        assert result.latencies.exact_s is not None
        return [float(x) for x in result.latencies.exact_s]

    assert latencies(1) == latencies(1) != latencies(2)


def test_the_order_of_sources_topics_and_records_does_not_matter() -> None:
    random = np.random.default_rng(1)
    time_s, partition = random.uniform(0, 5, 300), random.integers(3, size=300)
    shuffled = random.permutation(300)
    one = Recorded(time_s=floats(time_s), partition=ints(partition))
    other = Recorded(time_s=floats(time_s[shuffled]), partition=ints(partition[shuffled]))
    a, b = (
        Source(topic="a", partitions=2, arrivals=Poisson(rates=RATES)),
        Source(topic="b", partitions=3, arrivals=one),
    )

    def run(sources: tuple[Source, ...], topics: tuple[str, ...]) -> list[float]:
        group = GroupSpec(name="g", topics=topics, service=ExponentialService(mean_s=0.004))
        world = World(WorldSpec(sources=sources, groups=(group,), duration_s=5.0), seed=2)
        world.finish()
        return [float(x) for x in served_s(world.groups["g"].state)]

    expected = run((a, b), ("a", "b"))
    assert len(expected) > 600
    assert run((b, a), ("b", "a")) == expected
    assert run((Source(topic="b", partitions=3, arrivals=other), a), ("a", "b")) == expected


def test_a_copied_state_runs_on_by_itself_and_from_any_backlog() -> None:
    state = GroupState(2, objective_s=0.5, max_poll=10)
    state.add_consumers(2)
    state.group.partition_ints[2] = [0, 1]  # owners
    backlog = Arriving(np.zeros(30), np.zeros(30), np.arange(30) % 2, np.array([1.0]), np.array([0.1]))
    state.advance(1.0, backlog)
    waiting = state.group.cursor.copy()
    nothing = Arriving(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64), np.array([1.0]), np.array([0.1]))
    twin = state.copy()
    twin.advance(np.inf, nothing)
    assert (state.group.cursor == waiting).all()
    np.testing.assert_allclose(np.sort(served_s(twin)), np.repeat(np.arange(1, 16) * 0.1, 2))
    state.advance(np.inf, nothing)
    np.testing.assert_array_equal(served_s(state), served_s(twin))


def test_load_by_events_and_load_by_bytes_can_disagree() -> None:
    """Few large events against many small ones: the monitor shows both, a consumer that pays per byte feels it."""
    large = Source(
        topic="large",
        partitions=1,
        arrivals=Even(rates=Rates.constant(10.0, 20.0)),
        sizes=LognormalSize(mean_bytes=10_000, cv=0.5),
    )
    small = Source(topic="small", partitions=1, arrivals=Even(rates=Rates.constant(100.0, 20.0)))
    group = GroupSpec(
        name="g",
        topics=("large", "small"),
        service=PerByteService(s_per_byte=1e-6, base_s=0.0001, mean_s=0.001),
    )
    world = World(WorldSpec(sources=(large, small), groups=(group,), duration_s=20.0), seed=1)
    world.advance(20.0)
    (seen,) = SimulatedMonitor(world).observe()
    assert seen.end_bytes is not None
    assert seen.end_events.tolist() == [200.0, 2000.0]
    assert seen.end_bytes[1] == 200_000
    assert seen.end_bytes[0] == pytest.approx(2_000_000, rel=0.15)
    assert seen.reports is not None
    assert seen.reports.counter("busy_s").sum() == pytest.approx(2200 * 0.0001 + 1e-6 * seen.end_bytes.sum(), rel=1e-6)


def test_committed_lag_overstates_by_the_batch_in_work() -> None:
    burst = Burst(rates=Rates(eps=floats([100])), phase_s=0.2)
    spec = one_group(burst, duration_s=2.0, service=FixedService(mean_s=0.01), lag_basis=LagBasis.PROCESSED)
    world = World(spec, seed=0)
    world.advance(0.705)
    (seen,) = SimulatedMonitor(world).observe()
    assert seen.lag_basis is LagBasis.PROCESSED
    assert seen.processed_events is not None
    assert seen.end_events.tolist() == [100.0]
    assert seen.committed_events.tolist() == [0.0]
    assert seen.processed_events.tolist() == [50.0]
    world.advance(1.3)
    (seen,) = SimulatedMonitor(world).observe()
    assert seen.committed_events.tolist() == [100.0]


def test_stages_in_a_row_add_up() -> None:
    """An event is born once; its latency at the second stage counts from then on."""
    first = GroupSpec(
        name="first", topics=("in",), service=FixedService(mean_s=0.002), output=Output(topic="mid", partitions=2)
    )
    second = GroupSpec(name="second", topics=("mid",), service=FixedService(mean_s=0.003))
    spec = WorldSpec(
        sources=(Source(topic="in", partitions=2, arrivals=Even(rates=Rates.constant(50.0, 10.0))),),
        groups=(second, first),
        duration_s=10.0,
    )
    for interval_s in (1.0, 0.01):
        world = World(spec, seed=0)
        for k in range(int(10.0 / interval_s)):
            world.advance((k + 1) * interval_s)
        world.finish()
        np.testing.assert_allclose(served_s(world.groups["first"].state), np.full(500, 0.002), atol=1e-9)
        np.testing.assert_allclose(served_s(world.groups["second"].state), np.full(500, 0.005), atol=1e-9)


def test_seamless_leaves_who_stays_alone_and_restart_does_not() -> None:
    worst_s = {}
    for protocol in (Protocol.SEAMLESS, Protocol.RESTART):
        spec = one_group(
            Even(rates=Rates.constant(100.0, 10.0)),
            duration_s=10.0,
            service=FixedService(mean_s=0.001),
            protocol=protocol,
            rebalance_s=2.0,
            initial_consumers=2,
        )
        result = simulate(spec, seed=0, make_loop=lambda m, e: scripted({5: [2]}, Kept(), m, e))["g"]
        assert result.timeline.consumers.tolist() == [2] * 5 + [3] * 5
        worst_s[protocol] = result.max_s
    assert worst_s[Protocol.SEAMLESS] < 0.01
    assert worst_s[Protocol.RESTART] == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize("load", [0.5, 1.5])
@pytest.mark.parametrize(("arrivals", "cv"), [(Poisson, 1.0), (Even, 0.0)])
def test_who_shares_a_subscription_sees_how_it_is_filled(
    arrivals: type[Poisson | Even], cv: float, load: float
) -> None:
    """However many serve it, and whether or not they keep up."""
    spec = one_group(
        arrivals(rates=Rates.constant(300.0 * load, 20.0)),
        duration_s=20.0,
        service=FixedService(mean_s=0.01),
        protocol=Protocol.SEAMLESS,
        initial_consumers=3,
    )
    world, analyzer = World(spec, seed=4), WindowAnalyzer()
    world.advance(20.0)
    (seen,) = SimulatedMonitor(world).observe()
    found = analyzer.analyze(seen, ()).arrival_cv
    assert found == pytest.approx(cv, abs=0.05)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"initial_consumers": 4}, "at most 3"),
        ({"initial_consumers": 0}, "at least 1"),
        ({"max_poll_events": 0}, "max_poll_events"),
        ({"rebalance_s": -1.0}, "rebalance_s"),
        ({"startup_s": (3.0, 1.0)}, "startup_s"),
    ],
)
def test_a_group_that_cannot_be_is_refused(change: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        one_group(Even(rates=RATES), partitions=3, **change)


@pytest.mark.parametrize("eps", [[-1.0], [float("nan")], [float("inf")], []])
def test_rates_that_cannot_be_are_refused(eps: list[float]) -> None:
    with pytest.raises(InputError, match="rate"):
        Rates(eps=floats(eps))


def test_a_service_without_time_is_refused() -> None:
    with pytest.raises(InputError, match=r"service\.mean_s is 0"):
        FixedService(mean_s=0.0)


def test_groups_in_a_circle_are_refused() -> None:
    one = GroupSpec(name="one", topics=("b",), service=FixedService(mean_s=1), output=Output(topic="a", partitions=1))
    two = GroupSpec(name="two", topics=("a",), service=FixedService(mean_s=1), output=Output(topic="b", partitions=1))
    with pytest.raises(InputError, match="circle"):
        World(WorldSpec(sources=(), groups=(one, two), duration_s=1.0), seed=0)
