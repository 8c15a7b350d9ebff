"""Policies that look at a whole topology: DS2's own oracles, Flink's terms, response along paths."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.plan.contexts import context, workload

from sluice.errors import InputError
from sluice.model import (
    Action,
    Assignment,
    Objective,
    Partition,
    PathObjective,
    Plan,
    Stage,
    Topology,
    Workload,
    replace,
)
from sluice.model.values import floats, ints
from sluice.plan.base import PlanContext, Policy
from sluice.plan.ds2 import Ds2
from sluice.plan.flink import Flink
from sluice.plan.gigk_path import GigkPath
from sluice.plan.registry import make_policy
from sluice.theory.queueing import mm1_response_s, mmc_response_s


def stage_load(group: str, topics: Mapping[str, float], consumers: int = 1, **more: Any) -> Workload:
    """A stage that shares one subscription, with this rate on each of its topics."""
    at = Assignment(
        partitions=tuple(Partition(topic, 0) for topic in sorted(topics)),
        consumers=tuple(f"{group}{i}" for i in range(consumers)),
        owner=ints([-1] * len(topics)),
    )
    load = workload([topics[topic] for topic in sorted(topics)], assignment=at)
    return replace(load, group=group, **more)


def plans(
    policy: Policy, topology: Topology, *loads: Workload, latency_s: float = 1.0, paths: tuple[PathObjective, ...] = ()
) -> dict[str, Plan]:
    peers = {load.group: load for load in loads}
    objective = Objective(latency_s=latency_s, paths=paths)
    return {
        load.group: policy.plan(replace(context(load, peers=peers, topology=topology), objective=objective))
        for load in loads
    }


def counts(made: dict[str, Plan]) -> dict[str, int]:
    return {group: plan.target.count for group, plan in made.items()}


LINE = Topology(
    stages=(Stage(name="op1", inputs=("in",), outputs=("mid",)), Stage(name="op2", inputs=("mid",))), sources=("in",)
)


# --- DS2


@pytest.mark.parametrize(("source", "expected"), [(100.0, (2, 8)), (110.0, (3, 9))])
def test_ds2_gives_the_instances_of_its_own_tests(source: float, expected: tuple[int, int]) -> None:
    # True processing and output rates of an instance: Op1 (50, 400), Op2 (100, 200).
    op1 = stage_load("op1", {"in": source}, service_eps=50.0, selectivity=8.0)
    # What Op2 sees now is what Op1 lets through, and does not count.
    op2 = stage_load("op2", {"mid": 400.0}, service_eps=100.0, selectivity=2.0)
    made = counts(plans(Ds2(), LINE, op1, op2))
    assert (made["op1"], made["op2"]) == expected


def test_ds2_adds_up_what_comes_together_and_splits_what_parts() -> None:
    topology = Topology(
        stages=(
            Stage(name="a", inputs=("in",), outputs=("x", "y")),
            Stage(name="b", inputs=("other",), outputs=("x2",)),
            Stage(name="c", inputs=("x", "x2", "direct")),
            Stage(name="d", inputs=("y",)),
        ),
        sources=("in", "other", "direct"),
    )
    made = plans(
        Ds2(),
        topology,
        stage_load("a", {"in": 100.0}, service_eps=30.0, selectivity=1.0),
        stage_load("b", {"other": 40.0}, service_eps=40.0, selectivity=0.5),
        stage_load("c", {"x": 0.0, "x2": 0.0, "direct": 15.0}, service_eps=10.0),
        stage_load("d", {"y": 0.0}, service_eps=10.0),
    )
    # c takes half of a's 100, b's 20 and 15 of its own; d takes the other half of a's.
    assert counts(made) == {"a": 4, "b": 1, "c": 9, "d": 5}


def test_ds2_alone_divides_its_arrivals() -> None:
    assert Ds2().plan(context(workload([100.0] * 9))).target.count == 5  # 900 / 200
    assert Ds2(k_max=3).plan(context(workload([100.0] * 9))).target.count == 3


def test_ds2_holds_if_something_upstream_is_unknown() -> None:
    op2 = stage_load("op2", {"mid": 400.0}, service_eps=100.0)
    silent = stage_load("op1", {"in": 100.0}, service_eps=50.0, selectivity=None)
    plan = plans(Ds2(), LINE, silent, op2)["op2"]
    assert (plan.action, str(plan.reason)) == (Action.HOLD, "selectivity of stage op1 is not known")
    blind = replace(silent, selectivity=1.0, arrival_eps=floats([np.nan]))
    assert "rates or lag of stage op1" in str(plans(Ds2(), LINE, blind, op2)["op2"].reason)
    alone = Ds2().plan(context(op2, topology=LINE))
    assert "stage op1 are not known" in str(alone.reason)
    stranger = Ds2().plan(context(replace(op2, group="op3"), topology=LINE))
    assert "op3 is not part of the topology" in str(stranger.reason)


# --- Flink


def test_flink_adds_backlog_and_restart_to_what_flows() -> None:
    # 600/30 + 60·5/30 + 60/0.6 = 20 + 10 + 100 events/s of capacity, 20 an instance.
    load = replace(workload([60.0], [600.0], owner=[-1], consumers=1), service_eps=20.0)
    policy = Flink(target_utilization=0.6, catch_up_s=30.0, restart_s=5.0)
    plan = policy.plan(context(load))
    assert plan.target.count == 7
    assert not plan.warnings
    assert Flink(target_utilization=0.6, catch_up_s=0.0).plan(context(load)).target.count == 5


def test_flink_takes_the_measured_rebalance_for_a_restart() -> None:
    load = replace(workload([60.0], [600.0], owner=[-1], consumers=1), service_eps=20.0, rebalance_s=5.0)
    assert Flink(target_utilization=0.6).plan(context(load)).target.count == 7
    unknown = Flink(target_utilization=0.6).plan(context(replace(load, rebalance_s=None)))
    assert unknown.target.count == 6
    assert "not known yet" in str(unknown.warnings[0])


@pytest.mark.parametrize(
    ("rate", "count"),
    [
        (100.0, 10),  # fully used, still inside 0.7 ± 0.3
        (100.1, 15),  # ⌈100.1 / 0.7 / 10⌉
        (40.0, 10),  # the lower edge
        (39.9, 6),
        (1.0, 4),  # at most 60 % may go at once
    ],
)
def test_flink_leaves_a_band_of_utilisation_alone(rate: float, count: int) -> None:
    load = replace(workload([rate], owner=[-1], consumers=10), service_eps=10.0, rebalance_s=0.0)
    assert Flink().plan(context(load)).target.count == count


def test_a_long_restart_does_not_turn_shrinking_into_growth() -> None:
    load = replace(workload([39.9], owner=[-1], consumers=10), service_eps=10.0)
    assert Flink(restart_s=60.0).plan(context(load)).action is Action.HOLD


def test_flink_lets_backlog_flow_down_the_topology() -> None:
    op1 = replace(stage_load("op1", {"in": 0.0}, service_eps=50.0, selectivity=2.0), lag_events=floats([300.0]))
    op2 = stage_load("op2", {"mid": 0.0}, service_eps=5.0, rebalance_s=0.0)
    # 300 events behind Op1 become 600 for Op2, to be worked off in 30 s.
    assert counts(plans(Flink(), LINE, op1, op2))["op2"] == 4


# --- GI/G/k along paths

FORK = Topology(
    stages=(
        Stage(name="first", inputs=("in",), outputs=("mid",)),
        Stage(name="left", inputs=("mid",)),
        Stage(name="right", inputs=("mid",)),
    ),
    sources=("in",),
)


def served(group: str, topic: str, rate: float, consumers: int, service_eps: float = 10.0) -> Workload:
    return stage_load(group, {topic: rate}, consumers, service_eps=service_eps, arrival_cv=1.0, service_cv=1.0)


def test_the_slowest_of_a_slow_path_grows_and_nobody_else() -> None:
    loads = [served("first", "in", 5.0, 1), served("left", "mid", 9.0, 1), served("right", "mid", 5.0, 1)]
    # 1/(10-5) + 1/(10-9) = 1.2 s on the left, 0.4 s on the right.
    assert mm1_response_s(5.0, 10.0) + mm1_response_s(9.0, 10.0) > 1.0
    made = plans(GigkPath(), FORK, *loads)
    assert counts(made) == {"first": 1, "left": 2, "right": 1}
    assert "path first → left answers in 1.2 s" in str(made["left"].reason)


LEFT, RIGHT = ("first", "left"), ("first", "right")


def test_each_path_is_held_to_its_own_objective() -> None:
    # By M/M/1: 1/(10-5) + 1/(10-6) = 0.45 s on the left, 0.4 s on the right; one second is promised to all.
    loads = [served("first", "in", 5.0, 1), served("left", "mid", 6.0, 1), served("right", "mid", 5.0, 1)]
    assert counts(plans(GigkPath(alpha=0.0), FORK, *loads)) == {"first": 1, "left": 1, "right": 1}
    tight = PathObjective(stages=LEFT, latency_s=0.44)
    made = plans(GigkPath(alpha=0.0), FORK, *loads, paths=(tight,))
    assert counts(made) == {"first": 1, "left": 2, "right": 1}
    assert "path first → left answers in 0.45 s (objective 0.44 s" in str(made["left"].reason)
    # The right path takes 0.4 s: the same promise is kept there, a shorter one is not, and both its stages are as slow.
    both = (tight, PathObjective(stages=RIGHT, latency_s=0.39))
    assert counts(plans(GigkPath(alpha=0.0), FORK, *loads, paths=both)) == {"first": 1, "left": 2, "right": 2}


def test_nobody_gives_back_what_another_path_needs() -> None:
    # With one instance less the first answers in 0.5 s instead of 0.133: fine within 1 s, too slow for 0.35 s.
    loads = [served("first", "in", 8.0, 2), served("left", "mid", 1.0, 1), served("right", "mid", 1.0, 1)]
    assert mmc_response_s(8.0, 10.0, 2) + mm1_response_s(1.0, 10.0) < 0.9 * 0.35
    assert counts(plans(GigkPath(alpha=0.9), FORK, *loads)) == {"first": 1, "left": 1, "right": 1}
    tight = PathObjective(stages=RIGHT, latency_s=0.35)
    made = plans(GigkPath(alpha=0.9), FORK, *loads, paths=(tight,))
    assert counts(made) == {"first": 2, "left": 1, "right": 1}


def test_an_objective_below_the_measured_service_is_a_bound_and_a_verdict() -> None:
    loads = [served("first", "in", 5.0, 1), served("left", "mid", 6.0, 1), served("right", "mid", 1.0, 1)]
    short = PathObjective(stages=LEFT, latency_s=0.2)
    made = plans(make_policy("gigk-path", k_max=3), FORK, *loads, paths=(short,))
    assert counts(made) == {"first": 1, "left": 2, "right": 1}
    assert [str(w) for w in made["left"].warnings] == [
        "service alone takes 0.2 s along first → left: no number of consumers keeps the objective of 0.2 s; "
        "bounded at 2"
    ]
    assert not made["right"].warnings
    full = [loads[0], served("left", "mid", 25.0, 3), loads[2]]
    made = plans(make_policy("gigk-path", k_max=3), FORK, *full, paths=(short,))
    assert made["left"].action is Action.HOLD
    assert "bounded at 3" in str(made["left"].warnings[-1])


def test_the_fastest_of_a_quick_path_gives_one_back() -> None:
    loads = [served("first", "in", 5.0, 3), served("left", "mid", 5.0, 2), served("right", "mid", 5.0, 1)]
    # All are well below 0.5 s; the first is the fastest, and on both paths.
    made = plans(GigkPath(), FORK, *loads)
    assert counts(made) == {"first": 2, "left": 2, "right": 1}


def test_growing_wins_where_paths_disagree() -> None:
    # The right path is slow because of its own stage; the left one is quick and would take from the first.
    loads = [served("first", "in", 9.3, 1), served("left", "mid", 1.0, 1), served("right", "mid", 1.0, 1)]
    made = plans(GigkPath(alpha=0.99), FORK, *loads, latency_s=1.5)
    assert counts(made) == {"first": 2, "left": 1, "right": 1}


def test_nobody_shrinks_into_trouble() -> None:
    # One instance for 9.9 events/s at 10 would answer in 10 s.
    loads = [served("first", "in", 9.9, 2), served("left", "mid", 1.0, 1), served("right", "mid", 1.0, 1)]
    assert mmc_response_s(9.9, 10.0, 2) + mm1_response_s(1.0, 10.0) < 0.5
    assert counts(plans(GigkPath(), FORK, *loads)) == {"first": 2, "left": 1, "right": 1}


def test_of_those_that_never_answer_the_one_furthest_behind_grows() -> None:
    loads = [served("first", "in", 11.0, 1), served("left", "mid", 30.0, 1), served("right", "mid", 1.0, 1)]
    made = counts(plans(GigkPath(), FORK, *loads))
    # The left path's worst is the left stage, the right path's worst is the first one.
    assert made == {"first": 2, "left": 2, "right": 1}


def test_a_path_out_of_reach_is_a_bound_and_a_verdict() -> None:
    load = served("first", "in", 30.0, 2)
    plan = GigkPath(k_max=2).plan(context(load, latency_s=1.0))
    assert plan.action is Action.HOLD
    assert "no finite time" in str(plan.warnings[0])
    assert "out of reach" in str(plan.warnings[0])


def test_a_path_with_a_silent_stage_holds() -> None:
    loads = [served("first", "in", 9.0, 1), replace(served("left", "mid", 9.0, 1), service_eps=None)]
    made = plans(GigkPath(), FORK, *loads, served("right", "mid", 1.0, 1))
    assert {plan.action for plan in made.values() if plan.group == "first"} == {Action.HOLD}
    assert "rates of stage left" in str(made["first"].reason)
    assert made["right"].action is Action.HOLD


def test_a_group_alone_is_its_own_path() -> None:
    alone: PlanContext = context(served("first", "in", 9.5, 1), latency_s=1.0)
    assert GigkPath().plan(alone).target.count == 2


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Ds2(k_max=0), "k_max"),
        (lambda: GigkPath(alpha=1.0), "alpha"),
        (lambda: Flink(target_utilization=0.0), "target_utilization"),
        (lambda: Flink(target_utilization_boundary=0.7), "target_utilization_boundary"),
        (lambda: Flink(catch_up_s=-1.0), "catch_up_s"),
        (lambda: Flink(scale_down_max_factor=1.5), "scale_down_max_factor"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make: object, field: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=field):
        make()
