"""KEDA's Kafka rule and the autoscaler around it, against the documented arithmetic."""

from typing import Any

import pytest
from tests.plan.contexts import context, workload
from tests.plan.driving import changes, drive

from sluice.errors import InputError
from sluice.model import Action, Workload
from sluice.model.values import floats
from sluice.plan.hpa import Changes, Direction, limited, recommended, stabilized
from sluice.plan.keda import Keda
from sluice.plan.registry import make_policy


def lagging(*lag: float, consumers: int = 1) -> Workload:
    return workload([0.0] * len(lag), lag, owner=[i % consumers for i in range(len(lag))], consumers=consumers)


# --- what KEDA reports


@pytest.mark.parametrize(
    ("lag", "options", "metric"),
    [
        ([4, 3, 0, 0, 0], {}, 7),
        ([200, 200, 200, 200, 200], {}, 50),  # five partitions · 10
        ([51, 0, 0, 0, 0], {}, 50),
        ([200, 200, 200, 200, 200], {"allow_idle_consumers": True}, 1000),
        ([100, 0, 0, 50, 0], {"limit_to_partitions_with_lag": True}, 20),
        ([0, 0, 0, 0, 0], {"limit_to_partitions_with_lag": True}, 0),
        # Ten partitions: divisors 1, 2, 5, 10; the smallest f with 10 · f at least the lag.
        ([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], {"ensure_even_distribution_of_partitions": True}, 10),
        ([20, 0, 0, 0, 0, 0, 0, 0, 0, 0], {"ensure_even_distribution_of_partitions": True}, 20),
        ([25, 0, 0, 0, 0, 0, 0, 0, 0, 0], {"ensure_even_distribution_of_partitions": True}, 50),
        ([55, 0, 0, 0, 0, 0, 0, 0, 0, 0], {"ensure_even_distribution_of_partitions": True}, 100),
        ([999, 0, 0, 0, 0, 0, 0, 0, 0, 0], {"ensure_even_distribution_of_partitions": True}, 100),
    ],
)
def test_the_lag_that_keda_reports(lag: list[float], options: dict[str, Any], metric: float) -> None:
    assert Keda(**options).metric(floats(lag)) == metric


# --- what the autoscaler makes of it


@pytest.mark.parametrize(
    ("metric", "target", "replicas", "count"),
    [
        (290, 290, 1, 1),
        (291, 290, 1, 1),  # inside the dead band
        (319, 290, 1, 1),
        (320, 290, 1, 2),
        (1000, 290, 2, 4),
        (0, 290, 3, 0),
        (21, 1, 20, 20),
        (22, 1, 20, 20),  # exactly 10 %
        (22.5, 1, 20, 23),
        (18, 1, 20, 20),
        (17.9, 1, 20, 18),
        (5, 1, 23, 5),
        (3, 1, 0, 3),
    ],
)
def test_ceil_of_the_metric_outside_the_dead_band(metric: float, target: float, replicas: int, count: int) -> None:
    assert recommended(metric, target, replicas, 0.1, 0.1) == count


def test_below_eleven_replicas_every_step_can_be_reached() -> None:
    for replicas in range(1, 10):
        assert recommended(replicas + 1, 1, replicas, 0.1, 0.1) == replicas + 1
    for replicas in range(2, 11):
        assert recommended(min(replicas - 1, 0.9 * replicas - 0.05), 1, replicas, 0.1, 0.1) == replicas - 1
    assert recommended(21, 1, 20, 0.04, 0.1) == 21  # a tolerance of its own for growing


def test_windows_hold_back_what_was_not_wanted_all_along() -> None:
    assert stabilized(5, 9, [7], [9]) == 7  # growing: the lowest of the window
    assert stabilized(5, 2, [2], [4]) == 4  # shrinking: the highest of the window
    assert stabilized(5, 2, [], [9]) == 5
    assert stabilized(5, 9, [3], []) == 5


UP = Direction(stabilization_s=0, tolerance=0.1, percent=100, pods=4, period_s=15)
DOWN = Direction(stabilization_s=300, tolerance=0.1, percent=100, pods=None, period_s=15)


@pytest.mark.parametrize(
    ("current", "desired", "lately", "count"),
    [
        (1, 9, [], 5),  # four pods are more than 100 %
        (3, 20, [], 7),
        (7, 20, [], 14),
        (14, 20, [], 20),
        (7, 20, [(14.9, 4)], 7),  # the four of this period are spent: 3 + 4
        (7, 20, [(15.0, 4)], 14),
        (20, 1, [], 1),
    ],
)
def test_changes_are_limited_per_period(
    current: int, desired: int, lately: list[tuple[float, int]], count: int
) -> None:
    assert limited(current, desired, Changes(lately), UP, DOWN) == count


def test_other_scaling_policies() -> None:
    slow = Direction(stabilization_s=0, tolerance=0.1, percent=10, pods=1, period_s=60, select="Min")
    never = Direction(stabilization_s=0, tolerance=0.1, percent=10, pods=1, period_s=60, select="Disabled")
    assert limited(20, 40, Changes([]), slow, slow) == 21
    assert limited(20, 1, Changes([]), slow, slow) == 19
    assert limited(20, 1, Changes([(30.0, -1)]), slow, slow) == 20  # of 21 one has gone this minute
    assert limited(20, 40, Changes([]), never, never) == 20


# --- the policy


def test_what_it_finds_at_the_start_is_its_first_recommendation() -> None:
    # As Kubernetes does it: nobody shrinks before the window has passed since the autoscaler began.
    keda = Keda(lag_threshold=290, sync_period_s=5.0, scale_down_stabilization_s=60.0)
    made = drive(keda, lambda _: lagging(*[10.0] * 10, consumers=4), range(1000, 1100))
    assert changes(made) == [(1060, 1)]
    at_once = Keda(lag_threshold=290, sync_period_s=5.0, scale_down_stabilization_s=0.0)
    assert changes(drive(at_once, lambda _: lagging(*[10.0] * 10, consumers=4), range(1000, 1010))) == [(1000, 1)]


def test_it_grows_in_the_steps_of_the_default_behaviour() -> None:
    policy = Keda(lag_threshold=1, sync_period_s=15.0)
    start = workload([0.0] * 20, [1.0] * 20, owner=[i % 3 for i in range(20)], consumers=3)
    made = drive(policy, lambda _: start, range(60))
    assert changes(made) == [(0, 7), (15, 14), (30, 20)]
    assert all(f"looks again in {15 - d.time_s:g} s" in str(d.plan.reason) for d in made[1:15])


def test_it_shrinks_after_five_minutes_without_a_higher_recommendation() -> None:
    policy = Keda(lag_threshold=10)
    busy, quiet = lagging(*[10.0] * 4, consumers=4), lagging(*[1.0] * 4, consumers=4)
    made = drive(policy, lambda t: busy if t < 60 else quiet, range(0, 600, 5))
    # The last recommendation of 4 was at 45 s; it is out of the window once 300 s have passed.
    assert changes(made) == [(345, 1)]
    assert changes(drive(Keda(lag_threshold=10, scale_down_stabilization_s=0.0), lambda _: quiet, [0, 15])) == [(0, 1)]


def test_a_cached_metric_is_the_one_of_the_last_poll() -> None:
    policy = Keda(lag_threshold=10, use_cached_metrics=True, polling_interval_s=30.0, sync_period_s=15.0)
    made = drive(policy, lambda t: lagging(*[10.0 if t >= 10 else 0.0] * 4), range(0, 60, 5))
    assert changes(made) == [(30, 4)]
    fresh = Keda(lag_threshold=10, sync_period_s=15.0)
    assert changes(drive(fresh, lambda t: lagging(*[10.0 if t >= 10 else 0.0] * 4), range(0, 60, 5))) == [(15, 4)]


def test_it_idles_consumers_only_if_told_to() -> None:
    load = context(lagging(100.0, 100.0))
    assert make_policy("keda").plan(load).target.count == 2
    idle = make_policy("keda", allowIdleConsumers=True).plan(load)
    assert (idle.action, idle.target.count) == (Action.UP, 5)
    assert sorted(set(idle.target.owner.tolist())) == [0, 1]


def test_partitions_are_no_bound_for_a_shared_subscription() -> None:
    shared = workload([0.0], [95.0], owner=[-1], consumers=6)
    assert make_policy("keda").plan(context(shared)).target.count == 10


def test_counts_stay_between_the_replica_counts() -> None:
    assert make_policy("keda", maxReplicaCount=2).plan(context(lagging(*[99.0] * 5))).target.count == 2
    assert make_policy("keda", minReplicaCount=2).plan(context(lagging(*[0.0] * 5))).target.count == 2


def test_kedas_own_option_names_are_understood() -> None:
    policy: Any = make_policy("keda", lagThreshold=290, pollingInterval=5)
    while hasattr(policy, "wrapped"):
        policy = policy.wrapped
    assert (policy.lag_threshold, policy.polling_interval_s) == (290, 5.0)
    with pytest.raises(InputError, match="did you mean 'lagThreshold'"):
        make_policy("keda", lagTreshold=290)
    with pytest.raises(InputError, match="lag_threshold is given twice"):
        make_policy("keda", lagThreshold=290, lag_threshold=290)


def test_the_autoscalers_own_names_are_understood() -> None:
    behavior = {"scaleUp.tolerance": 0.0, "scaleDown.stabilizationWindowSeconds": 60, "scaleDown.selectPolicy": "Min"}
    policy: Any = make_policy("keda", **behavior)
    while hasattr(policy, "wrapped"):
        policy = policy.wrapped
    assert (policy.scale_up_tolerance, policy.scale_down_stabilization_s, policy.scale_down_select) == (
        0.0,
        60.0,
        "Min",
    )
    assert (policy.scale_down_tolerance, policy.scale_up_stabilization_s, policy.scale_up_select) == (None, 0.0, "Max")


@pytest.mark.parametrize("name", ["activationLagThreshold", "cooldownPeriod", "idleReplicaCount"])
def test_options_for_scaling_to_zero_say_so(name: str) -> None:
    with pytest.raises(InputError, match=f"does not take {name}: it matters only for scaling to zero"):
        make_policy("keda", **{name: 5})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lag_threshold": 0}, "lag_threshold is 0"),
        ({"min_replica_count": 0}, "min_replica_count is 0"),
        ({"max_replica_count": 2, "min_replica_count": 3}, "below min_replica_count"),
        ({"allow_idle_consumers": True, "limit_to_partitions_with_lag": True}, "exclude each other"),
        ({"scale_up_select": "Most"}, "selectPolicy is 'Most'"),
        ({"scale_down_percent": None}, "neither a percent nor a pods policy"),
        ({"tolerance": 1.0}, "tolerance is 1.0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Keda(**options)
