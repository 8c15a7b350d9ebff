"""Consumers that let go between two events, against those that finish the polled batch first."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulate.scripted import Kept, scripted
from tests.simulate.worlds import one_group

from sluice.model.values import FloatArray, floats
from sluice.simulate import Burst, FixedService, Poisson, Protocol, Rates, simulate

SERVICE_S, PHASE_S, PAUSE_S = 0.01, 0.205, 0.05
TICKS_S = [0.0, 1.0, 1.1, 1.55, 1.62, 3.0]


def _moved_in_mid_batch(*, finish_batch: bool, protocol: Protocol = Protocol.HANDOVER) -> tuple[FloatArray, Kept]:
    """200 events at once on two partitions of one consumer; a second one gets partition 1 at 1 s."""
    spec = one_group(
        Burst(rates=Rates(eps=floats([200])), phase_s=PHASE_S),
        partitions=2,
        duration_s=4.0,
        service=FixedService(mean_s=SERVICE_S),
        protocol=protocol,
        rebalance_s=PAUSE_S,
        heartbeat_s=0.0,
        finish_batch=finish_batch,
    )
    kept = Kept()
    made = simulate(spec, seed=0, make_loop=lambda m, e: scripted({1: [0, 1]}, kept, m, e), tick_s=TICKS_S)["g"]
    assert made.latencies.exact_s is not None
    return made.latencies.exact_s + PHASE_S, kept


def test_only_the_event_in_work_is_finished() -> None:
    ended_s, kept = _moved_in_mid_batch(finish_batch=False)
    together, stopped_s = 80, 1.005
    np.testing.assert_allclose(ended_s[:together], PHASE_S + SERVICE_S * np.arange(1, together + 1))
    apart = SERVICE_S * np.arange(1, 61)
    np.testing.assert_allclose(ended_s[together::2], stopped_s + apart, err_msg="partition 0 goes on")
    np.testing.assert_allclose(ended_s[together + 1 :: 2], stopped_s + PAUSE_S + apart, err_msg="partition 1 moved")
    committed = [d.snapshot.committed_events.tolist() for d in kept]
    # At the move partition 1 is committed as far as it is done; the rest of each batch at its end.
    assert committed == [[0, 0], [0, 0], [0, 40], [0, 40], [100, 40], [100, 100]]
    processed = [None if d.snapshot.processed_events is None else d.snapshot.processed_events.tolist() for d in kept]
    assert processed[1:3] == [[40, 39], [49, 44]]


def test_a_whole_batch_is_finished_first() -> None:
    ended_s, kept = _moved_in_mid_batch(finish_batch=True)
    np.testing.assert_allclose(ended_s, PHASE_S + SERVICE_S * np.arange(1, 201))
    assert kept[-2].snapshot.committed_events.tolist() == [0, 0]


def test_an_eager_change_also_waits_for_the_event_only() -> None:
    ended_s, _ = _moved_in_mid_batch(finish_batch=False, protocol=Protocol.EAGER)
    both = 1.005 + PAUSE_S + SERVICE_S * np.arange(1, 61)
    np.testing.assert_allclose(ended_s[80::2], both)
    np.testing.assert_allclose(ended_s[81::2], both)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 1000),
    eps=st.floats(50.0, 260.0),
    max_poll=st.sampled_from([1, 3, 500]),
    ticks=st.lists(st.floats(0.0, 9.9), min_size=1, max_size=8),
)
def test_without_a_change_there_is_no_difference(seed: int, eps: float, max_poll: int, ticks: list[float]) -> None:
    def run(**group: Any) -> tuple[FloatArray, Kept]:
        kept = Kept()
        spec = one_group(
            Poisson(rates=Rates.constant(eps, 10.0)),
            partitions=3,
            duration_s=10.0,
            initial_consumers=2,
            max_poll_events=max_poll,
            **group,
        )
        made = simulate(spec, seed=seed, make_loop=lambda m, e: scripted({}, kept, m, e), tick_s=sorted(ticks))["g"]
        assert made.latencies.exact_s is not None
        return made.latencies.exact_s, kept

    whole_s, whole = run(finish_batch=True)
    single_s, single = run(finish_batch=False)
    assert single_s == pytest.approx(whole_s)
    for a, b in zip(whole, single, strict=True):
        assert a.snapshot.committed_events.tolist() == b.snapshot.committed_events.tolist()
        assert a.snapshot.processed_events is not None
        assert b.snapshot.processed_events is not None
        assert a.snapshot.processed_events.tolist() == b.snapshot.processed_events.tolist()


def test_commits_keep_their_distance() -> None:
    """A batch of 10 events takes 100 ms; with at least 250 ms between two commits it is seen as lag for so long."""
    spec = one_group(
        Burst(rates=Rates(eps=floats([10])), phase_s=PHASE_S),
        duration_s=4.0,
        service=FixedService(mean_s=SERVICE_S),
        commit_s=0.25,
    )
    kept = Kept()
    ticks = [0.0, PHASE_S + 0.095, PHASE_S + 0.11, PHASE_S + 0.24, PHASE_S + 0.26]
    simulate(spec, seed=0, make_loop=lambda m, e: scripted({}, kept, m, e), tick_s=ticks)
    assert [d.snapshot.committed_events.tolist() for d in kept] == [[0], [0], [0], [0], [10]]
    processed = [d.snapshot.processed_events for d in kept]
    assert [None if p is None else p.tolist() for p in processed] == [[0], [9], [10], [10], [10]]
