"""A group that nobody serves gets its first consumers; anything else is the policy's business."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.model import Action, Assignment, Objective, Partition, Workload
from sluice.model.values import floats
from sluice.plan.base import PlanContext
from sluice.plan.guards.presence import Presence
from sluice.plan.registry import make_policy

OBJECTIVE = Objective(latency_s=0.5)


def context(partitions: int, consumers: int, *, settled: bool = True) -> PlanContext:
    names = [Partition("t", n) for n in range(partitions)]
    held = {f"c{i}": names[i::consumers] for i in range(consumers)}
    workload = Workload(
        group="g",
        time_s=1.0,
        assignment=Assignment.of(held, partitions=names),
        arrival_eps=floats(np.full(partitions, np.nan)),
        lag_events=floats(np.zeros(partitions)),
        settled=settled,
    )
    return PlanContext(workload=workload, objective=OBJECTIVE)


@given(partitions=st.integers(1, 40), initial=st.integers(1, 50))
def test_every_partition_gets_an_owner_and_the_counts_differ_by_one_at_most(partitions: int, initial: int) -> None:
    plan = Presence(make_policy("tail-binpack"), initial_consumers={"g": initial}).plan(context(partitions, 0))
    assert plan.action is Action.UP
    assert plan.guard == "presence"
    assert plan.target.count == min(initial, partitions)
    held = [len(owned) for owned in plan.target.owned().values()]
    assert sum(held) == partitions
    assert max(held) - min(held) <= 1


@pytest.mark.parametrize(("consumers", "settled"), [(1, True), (0, False)])
def test_with_consumers_or_without_certainty_the_policy_is_asked(consumers: int, settled: bool) -> None:
    plan = Presence(make_policy("tail-binpack"), initial_consumers={}).plan(context(4, consumers, settled=settled))
    assert plan.action is Action.HOLD
    assert plan.guard != "presence"


def test_a_group_without_partitions_gets_nobody() -> None:
    plan = Presence(make_policy("tail-binpack"), initial_consumers={}).plan(context(0, 0))
    assert plan.action is Action.HOLD


def test_one_consumer_where_nothing_is_said_of_the_group() -> None:
    presence = Presence(make_policy("tail-binpack"), initial_consumers={"other": 5})
    assert presence.plan(context(3, 0)).target.count == 1
    assert replace(presence, initial_consumers={"g": 2}).plan(context(3, 0)).target.count == 2
