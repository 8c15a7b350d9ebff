"""The published table of the tail-latency paper, within fixed tolerances; means over six starting phases."""

from functools import cache

import pytest

from sluice.lab.experiment import run
from sluice.lab.library import find_scenario
from sluice.lab.row import Mean, means

PHASES = 6


@cache
def measured(scenario: str, policy: str) -> Mean:
    chosen = find_scenario(scenario)
    (mean,) = means([run(chosen, policy, seed, bound=None).row for seed in range(PHASES)])
    return mean


@pytest.mark.parametrize(
    ("scenario", "policy", "sla_percent", "tolerance"),
    [
        ("workload-a", "linear", 94.7, 2.5),
        ("workload-a", "tail-binpack", 97.4, 2.5),
        ("workload-a-skewed", "linear", 84.7, 2.0),
        ("workload-a-tr2", "binpack", 85.4, 4.0),
    ],
)
def test_share_in_time(scenario: str, policy: str, sla_percent: float, tolerance: float) -> None:
    assert 100 * measured(scenario, policy).sla_ratio == pytest.approx(sla_percent, abs=tolerance)


@pytest.mark.parametrize(
    ("scenario", "policy", "replica_minutes", "tolerance"),
    [
        ("workload-a", "linear", 25.5, 0.3),
        ("workload-a", "overprovision", 50.0, 0.3),
        ("workload-a", "tail-binpack", 30.2, 1.0),
        ("workload-a-tr2", "tail-binpack", 44.7, 2.0),
    ],
)
def test_cost(scenario: str, policy: str, replica_minutes: float, tolerance: float) -> None:
    assert measured(scenario, policy).replica_minutes == pytest.approx(replica_minutes, abs=tolerance)


def test_planning_for_the_rebalance_keeps_the_promise_where_it_is_long() -> None:
    assert measured("workload-a-tr2", "tail-binpack").sla_ratio >= 0.97


def test_overprovisioning_keeps_every_event() -> None:
    mean = measured("workload-a", "overprovision")
    assert mean.sla_ratio == 1.0
    assert (mean.up, mean.down, mean.reassign) == (1, 0, 0)


def test_packing_beats_a_load_blind_spread_where_partitions_are_skewed() -> None:
    assert (
        measured("workload-a-skewed", "tail-binpack").sla_ratio
        > measured("workload-a-skewed", "linear").sla_ratio + 0.08
    )


def test_faster_heartbeats_cut_the_worst_latency() -> None:
    slow = find_scenario("workload-a")
    fast = slow.model_copy(update={"group": (slow.group[0].model_copy(update={"heartbeat_s": 0.5}),)})
    (mean,) = means([run(fast, "tail-binpack", seed, bound=None).row for seed in range(PHASES)])
    assert mean.max_s < measured("workload-a", "tail-binpack").max_s - 1.0
