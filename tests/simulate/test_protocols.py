"""What a change of the group does to its events, protocol by protocol, on a stream of one event every 10 ms."""

from typing import Any

import numpy as np
import pytest
from tests.simulate.scripted import Kept, Script, scripted
from tests.simulate.worlds import one_group

from sluice.model.values import FloatArray
from sluice.simulate import Even, FixedService, Protocol, Rates, RunResult, simulate
from sluice.simulate.spec import WorldSpec
from sluice.simulate.stream import EventStream


def _spec(protocol: Protocol, **group: Any) -> WorldSpec:
    return one_group(
        Even(rates=Rates.constant(100.0, 10.0)),
        partitions=4,
        duration_s=10.0,
        service=FixedService(mean_s=0.001),
        protocol=protocol,
        rebalance_s=0.5,
        initial_consumers=2,
        **group,
    )


def _run(protocol: Protocol, script: Script, **group: Any) -> tuple[RunResult, Kept]:
    kept = Kept()
    result = simulate(_spec(protocol, **group), seed=0, make_loop=lambda m, e: scripted(script, kept, m, e))["g"]
    return result, kept


def _by_partition(result: RunResult) -> list[FloatArray]:
    assert result.latencies.exact_s is not None
    partition = EventStream(_spec(Protocol.EAGER).sources[0], 0).take(np.inf).partition
    return [result.latencies.exact_s[partition == p] for p in range(4)]


def _worst(result: RunResult) -> list[float]:
    return [float(latency_s.max()) for latency_s in _by_partition(result)]


def test_eager_stops_everybody() -> None:
    result, _ = _run(Protocol.EAGER, {5: [0, 1, 1, 1]})
    assert result.reassign == 1
    # Nothing waits in the batches, so all partitions stand still from 5 s to 5.5 s.
    for worst_s in _worst(result):
        assert 0.46 < worst_s < 0.54


def test_cooperative_stops_only_what_moves_for_two_rounds() -> None:
    result, _ = _run(Protocol.COOPERATIVE, {5: [0, 1, 1, 1]})
    worst_s = _worst(result)
    assert 0.96 < worst_s[2] < 1.04
    assert worst_s[0] < 0.01
    # The new owner of partition 2 has its backlog to work off.
    assert max(worst_s[1], worst_s[3]) < 0.06


def test_handover_stops_only_what_moves_for_one_step() -> None:
    result, _ = _run(Protocol.HANDOVER, {5: [0, 1, 1, 1]})
    worst_s = _worst(result)
    assert 0.46 < worst_s[2] < 0.54
    assert worst_s[0] < 0.01


@pytest.mark.parametrize(
    ("protocol", "expected_s"), [(Protocol.EAGER, 3.5), (Protocol.COOPERATIVE, 4.0), (Protocol.HANDOVER, 0.5)]
)
def test_a_leaver_is_noticed_one_heartbeat_later_but_not_in_a_handover(protocol: Protocol, expected_s: float) -> None:
    result, _ = _run(protocol, {5: [0, 0, 0, 0]}, heartbeat_s=3.0)
    assert result.down == 1
    latency_s = _by_partition(result)
    for left in (1, 3):
        assert latency_s[left].max() == pytest.approx(expected_s, abs=0.06)


@pytest.mark.parametrize(("protocol", "pause_s"), [(Protocol.EAGER, 0.5), (Protocol.COOPERATIVE, 1.0)])
def test_a_leaver_reads_on_until_it_has_shut_down(protocol: Protocol, pause_s: float) -> None:
    result, kept = _run(protocol, {5: [0, 0, 0, 0]}, heartbeat_s=0.0, shutdown_s=2.2)
    # Told at 5 s, gone at 7.2 s: only what comes during the pause after that waits.
    assert [d.snapshot.time_s for d in kept if not d.workload.settled] == [6.0, 7.0, *([8.0] if pause_s > 0.8 else [])]
    latency_s = _by_partition(result)
    assert latency_s[1].max() == pytest.approx(pause_s, abs=0.06)
    for change in (o for o in result.ownership if o.readable_s > 0):
        assert change.readable_s == pytest.approx(7.2 + pause_s, abs=0.06)
    # With a heartbeat it stands still from the shutdown on until the others know.
    late, _ = _run(protocol, {5: [0, 0, 0, 0]}, heartbeat_s=1.0, shutdown_s=2.2)
    assert _by_partition(late)[1].max() == pytest.approx(1.0 + pause_s, abs=0.06)


def test_a_start_costs_at_once_and_reads_later() -> None:
    result, kept = _run(Protocol.EAGER, {5: [0, 1, 2, 3]}, startup_s=(2.0, 2.0))
    assert [bool(d.workload.settled) for d in kept] == [True] * 6 + [False] * 2 + [True] * 2
    assert result.timeline.consumers.tolist() == [2] * 5 + [4] * 5
    assert result.replica_seconds == 2 * 5 + 4 * 5
    # The others read on until the newcomers are up, at 7 s.
    assert {o.readable_s for o in result.ownership if o.consumer == "c3"} == {7.5}


def test_a_batch_in_work_is_finished_by_who_started_it() -> None:
    spec = one_group(
        Even(rates=Rates.constant(100.0, 4.0)),
        partitions=2,
        duration_s=6.0,
        service=FixedService(mean_s=0.02),
        protocol=Protocol.HANDOVER,
        rebalance_s=0.1,
    )
    result = simulate(spec, seed=0, make_loop=lambda m, e: scripted({2: [0, 1]}, Kept(), m, e))["g"]
    moved = next(o for o in result.ownership if o.consumer == "c1")
    # Half of what arrived in 2 s is served; the batch in work at 2 s goes on behind it.
    assert moved.from_event >= 50
    assert moved.readable_s > 2.1


def test_history_is_enough_to_recompute_every_latency() -> None:
    """What the batch job on the data pipeline relies on: order by (readable, number), one FIFO a consumer."""
    result, _ = _run(Protocol.COOPERATIVE, {3: [0, 1, 2, 0], 5: [1, 1, 0, 0], 7: [0, 0, 0, 0]}, heartbeat_s=1.0)
    events = EventStream(_spec(Protocol.EAGER).sources[0], 0).take(np.inf)
    offset = np.zeros(len(events.time_s), dtype=np.int64)
    for p in range(4):
        offset[events.partition == p] = np.arange((events.partition == p).sum())
    rows = []
    for number, (time_s, p, o) in enumerate(zip(events.time_s, events.partition, offset, strict=True)):
        mine = [h for h in result.ownership if h.partition.number == p and h.from_event <= o]
        rows.append((max(time_s, mine[-1].readable_s), number, mine[-1].consumer, time_s))
    free_s: dict[str, float] = {}
    latency_s = np.empty(len(rows))
    for readable_s, number, consumer, time_s in sorted(rows):
        free_s[consumer] = max(readable_s, free_s.get(consumer, 0.0)) + 0.001
        latency_s[number] = free_s[consumer] - time_s
    assert result.latencies.exact_s is not None
    np.testing.assert_allclose(result.latencies.exact_s, latency_s, atol=1e-9)
