"""Each guard alone, around a policy that always wants the same thing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plan.contexts import context, decision, workload

from sluice.errors import InputError
from sluice.model import Action, Assignment, Decision, Objective, PathObjective, Plan, Reason, Stage, Topology, replace
from sluice.model.values import floats, ints
from sluice.plan.base import PlanContext, Policy, hold, memory_s, propose
from sluice.plan.guards.bounds import Bounds
from sluice.plan.guards.cool_down import CoolDown
from sluice.plan.guards.gain import MinimumGain
from sluice.plan.guards.known import Known
from sluice.plan.guards.no_change import NoChange
from sluice.plan.guards.patience import Patience
from sluice.plan.guards.reachable import Reachable
from sluice.plan.guards.recovery import Recovery
from sluice.plan.guards.settled import Settled
from sluice.plan.linear import Linear
from sluice.plan.placing import sized

RATES = [40.0, 30.0, 20.0, 10.0]


@dataclass(frozen=True, slots=True)
class Wants:
    """Deals the partitions out over so many consumers, whatever the load."""

    count: int
    name: str = "wants"

    def plan(self, context: PlanContext) -> Plan:
        current = context.workload.assignment
        if self.count == current.count:
            return hold(context, self.name, Reason("as it is"))
        owner = ints([i % self.count for i in range(len(current.partitions))])
        return propose(context, self.name, sized(current, self.count, owner), Reason("wants {n}", {"n": self.count}))


@dataclass(frozen=True, slots=True)
class Moves:
    """Wants exactly this owner of each partition."""

    owner: tuple[int, ...]
    name: str = "moves"

    def plan(self, context: PlanContext) -> Plan:
        current = context.workload.assignment
        target = Assignment(partitions=current.partitions, consumers=current.consumers, owner=ints(self.owner))
        return propose(context, self.name, target, Reason("moves"))


def group(consumers: int, **more: Any) -> PlanContext:
    owner = [i % consumers for i in range(len(RATES))]
    return context(workload(RATES, owner=owner, consumers=consumers, **more))


def at(past: PlanContext, *actions: tuple[float, Action]) -> list[Decision]:
    """Decisions so many seconds ago, each done as planned."""
    now_s = past.workload.time_s
    return [decision(past.workload, now_s - ago_s, action=action) for ago_s, action in actions]


# --- bounds


@pytest.mark.parametrize(
    ("wanted", "now", "least", "most", "target", "action"),
    [
        (3, 2, 1, None, 3, Action.UP),
        (9, 2, 1, None, 4, Action.UP),  # four partitions
        (4, 2, 1, 3, 3, Action.UP),
        (1, 3, 2, None, 2, Action.DOWN),
        (1, 2, 2, None, 2, Action.HOLD),
        (1, 1, 2, None, 2, Action.UP),
        (4, 4, 1, 2, 2, Action.DOWN),
        (9, 3, 6, 8, 4, Action.UP),  # partitions win over the least
    ],
)
def test_bounds_correct_the_number(
    wanted: int, now: int, least: int, most: int | None, target: int, action: Action
) -> None:
    plan = Bounds(Wants(wanted), min_consumers=least, max_consumers=most).plan(group(now))
    assert (plan.target.count, plan.action) == (target, action)
    assert (plan.guard == "bounds") == (target != wanted)
    if plan.guard:
        assert plan.rejected[0].consumers == wanted
    assert plan.action is Action.HOLD or plan.target.owner.min() >= 0


def test_bounds_repack_by_load_and_not_by_count() -> None:
    plan = Bounds(Wants(4), max_consumers=2).plan(group(1))
    assert sorted(plan.target.load(plan_rates()).tolist()) == [50.0, 50.0]


def test_bounds_repack_with_the_policys_own_balancer() -> None:
    plan = Bounds(Linear(), max_consumers=2).plan(context(workload([200.0, 100.0, 100.0, 100.0])))
    # The range assignor is blind to load: two contiguous partitions each.
    assert plan.target.owner.tolist() == [0, 0, 1, 1]


def test_at_the_upper_bound_partitions_move_only_if_it_pays() -> None:
    guard = Bounds(Wants(4), max_consumers=2)
    even = context(workload(RATES, owner=[0, 1, 1, 0], consumers=2))
    assert guard.plan(even).action is Action.HOLD
    uneven = context(workload(RATES, owner=[0, 0, 0, 1], consumers=2))
    assert guard.plan(uneven).action is Action.REASSIGN


def test_a_group_that_shares_a_subscription_may_outnumber_its_partitions() -> None:
    shared = context(workload([900.0], owner=[-1], consumers=2))
    plan = Bounds(Linear(), max_consumers=15).plan(shared)
    assert (plan.target.count, plan.guard) == (11, None)  # ⌈900 · 0.9 / (200 · 0.4)⌉
    assert plan.target.owner.tolist() == [-1]


def plan_rates() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return floats(RATES)


# --- no change


def test_a_reassignment_to_what_stands_is_a_hold() -> None:
    @dataclass(frozen=True, slots=True)
    class Insists:
        name: str = "insists"

        def plan(self, context: PlanContext) -> Plan:
            current = context.workload.assignment
            flipped = Assignment(
                partitions=current.partitions, consumers=current.consumers[::-1], owner=ints(1 - current.owner)
            )
            return replace(hold(context, self.name, Reason("x")), action=Action.REASSIGN, target=flipped)

    plan = NoChange(Insists()).plan(group(2))
    assert (plan.action, plan.guard) == (Action.HOLD, "no change")
    assert plan.target is plan.current
    assert NoChange(Moves((1, 0, 1, 0))).plan(group(2)).action is Action.REASSIGN


# --- minimum gain


@pytest.mark.parametrize(
    ("policy", "now", "min_gain", "action"),
    [
        (Wants(3), 4, 0.25, Action.DOWN),
        (Wants(3), 4, 0.26, Action.HOLD),
        (Wants(4), 3, 0.99, Action.UP),
        # From loads 60 and 40 to 50 and 50 the fullest loses a sixth.
        (Moves((0, 1, 1, 0)), 2, 0.16, Action.REASSIGN),
        (Moves((0, 1, 1, 0)), 2, 0.17, Action.HOLD),
    ],
)
def test_too_small_a_gain_is_a_hold(policy: Policy, now: int, min_gain: float, action: Action) -> None:
    plan = MinimumGain(policy, min_gain=min_gain).plan(group(now))
    assert plan.action is action
    assert (plan.guard == "minimum gain") == (action is Action.HOLD)


def test_an_orphan_is_worth_any_move() -> None:
    orphaned = context(workload(RATES, owner=[0, 1, -1, 1], consumers=2))
    assert MinimumGain(Moves((0, 1, 0, 1)), min_gain=1.0).plan(orphaned).action is Action.REASSIGN


# --- cool-down


@pytest.mark.parametrize(
    ("past", "action"),
    [
        ([], Action.UP),
        ([(5.0, Action.UP)], Action.UP),
        ([(4.999, Action.UP)], Action.HOLD),
        ([(4.0, Action.REASSIGN), (1.0, Action.HOLD)], Action.HOLD),
        ([(9.0, Action.DOWN), (1.0, Action.HOLD)], Action.UP),
    ],
)
def test_cool_down_waits_for_the_last_action(past: list[tuple[float, Action]], action: Action) -> None:
    now = group(1)
    plan = CoolDown(Wants(2), cooldown_s=5.0).plan(replace(now, recent=at(now, *past)))
    assert plan.action is action
    if action is Action.HOLD:
        assert plan.guard == "cool-down"
        assert (plan.rejected[0].name, plan.rejected[0].consumers) == ("up", 2)
        assert "wants 2" in str(plan.rejected[0].why_not)


def test_advice_that_nobody_followed_starts_no_cool_down() -> None:
    now = group(1)
    ignored = decision(now.workload, now.workload.time_s - 1.0, action=Action.UP, done=Action.HOLD)
    assert CoolDown(Wants(2), cooldown_s=5.0).plan(replace(now, recent=[ignored])).action is Action.UP


def test_a_long_cool_down_asks_for_a_long_memory() -> None:
    assert memory_s(Settled(CoolDown(Wants(2), cooldown_s=300.0))) == 300.0
    assert memory_s(Wants(2)) == 0.0


# --- recovery


@pytest.mark.parametrize(
    ("pause_s", "ago_s", "action"),
    [(2.0, 3.9, Action.HOLD), (2.0, 4.0, Action.UP), (0.05, 1.0, Action.UP), (None, 0.1, Action.UP)],
)
def test_recovery_leaves_a_group_alone_until_it_has_caught_up(
    pause_s: float | None, ago_s: float, action: Action
) -> None:
    now = group(1, rebalance_s=pause_s)
    plan = Recovery(Wants(2), recovery_ratio=1.0).plan(replace(now, recent=at(now, (ago_s, Action.DOWN))))
    assert plan.action is action
    assert (plan.guard == "recovery") == (action is Action.HOLD)


# --- settled


def test_no_second_change_while_one_is_under_way() -> None:
    assert Settled(Wants(2)).plan(group(1)).action is Action.UP
    plan = Settled(Wants(2)).plan(group(1, settled=False))
    assert (plan.action, plan.guard) == (Action.HOLD, "unsettled")
    assert Settled(Wants(1)).plan(group(1, settled=False)).guard is None


# --- patience


def wish(load: PlanContext, ago_s: float, wanted: Action, guard: str = "patience") -> Decision:
    return decision(load.workload, load.workload.time_s - ago_s, guard=guard, wanted=wanted)


def test_patience_counts_wishes_in_a_row() -> None:
    now = group(2)
    guard = Patience(Wants(3), patience_up=3, patience_down=5)
    up = [wish(now, 2.0, Action.UP), wish(now, 1.0, Action.UP, guard="cool-down")]
    assert guard.plan(now).guard == "patience"
    assert guard.plan(replace(now, recent=up[1:])).action is Action.HOLD
    assert guard.plan(replace(now, recent=up)).action is Action.UP
    for breaks in (
        wish(now, 1.5, Action.DOWN),
        decision(now.workload, now.workload.time_s - 1.5),
        wish(now, 1.5, Action.UP, guard="bounds"),
        decision(now.workload, now.workload.time_s - 1.5, action=Action.UP),
    ):
        assert guard.plan(replace(now, recent=[up[0], breaks, up[1]])).action is Action.HOLD


def test_patience_has_a_number_for_each_direction_and_none_for_a_reassignment() -> None:
    now = group(2)
    assert Patience(Wants(1), patience_up=9).plan(now).action is Action.DOWN
    assert Patience(Wants(1), patience_down=2).plan(now).action is Action.HOLD
    assert Patience(Moves((1, 0, 0, 1)), patience_up=9, patience_down=9).plan(now).action is Action.REASSIGN


# --- missing data


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("arrival_eps", floats([1.0, np.nan, 1.0, 1.0])),
        ("arrival_eps", floats([1.0, -1.0, 1.0, 1.0])),
        ("arrival_eps", floats([1.0, np.inf, 1.0, 1.0])),
        ("service_eps", None),
        ("service_eps", 0.0),
        ("service_eps", float("nan")),
    ],
)
def test_missing_data_is_a_hold_that_names_the_field(field: str, value: Any) -> None:
    now = group(2)
    guard = Known(Wants(1), needs=("arrival_eps", "service_eps"))
    assert guard.plan(now).action is Action.DOWN
    gap: dict[str, Any] = {field: value}
    plan = guard.plan(replace(now, workload=replace(now.workload, **gap)))
    assert (plan.action, plan.guard, str(plan.reason)) == (Action.HOLD, "missing data", f"{field} is not known")


def test_what_a_policy_does_not_need_may_be_missing() -> None:
    blind = group(2, service_eps=None)
    assert Known(Wants(1), needs=()).plan(blind).action is Action.DOWN


def test_a_group_whose_topic_is_gone_keeps_its_consumers() -> None:
    nothing = Assignment(partitions=(), consumers=("c0", "c1"), owner=ints([]))
    gone = context(workload([], assignment=nothing))
    assert Known(Bounds(Wants(1)), needs=()).plan(gone).action is Action.HOLD


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 4), st.booleans(), st.booleans())
def test_guards_never_invent_an_action(wanted: int, now: int, settled: bool, acted: bool) -> None:
    """Whoever delays or refuses gives the policy's own target or none at all."""
    start = group(now, settled=settled, rebalance_s=1.0)
    asked = replace(start, recent=at(start, (1.0, Action.UP)) if acted else [])
    policy = Wants(wanted)
    for guard in (
        MinimumGain(policy, min_gain=0.3),
        Patience(policy, patience_up=2, patience_down=2),
        CoolDown(policy, cooldown_s=5.0),
        Recovery(policy),
        Settled(policy),
    ):
        plan = guard.plan(asked)
        assert plan.action is Action.HOLD or plan == policy.plan(asked)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Bounds(Wants(1), min_consumers=0), "min_consumers"),
        (lambda: Bounds(Wants(1), min_consumers=3, max_consumers=2), "max_consumers"),
        (lambda: Bounds(Wants(1), repack_gain=2.0), "repack_gain"),
        (lambda: MinimumGain(Wants(1), min_gain=-0.1), "min_gain"),
        (lambda: Patience(Wants(1), patience_up=0), "patience_up"),
        (lambda: Patience(Wants(1), patience_down=1000), "patience_down"),
        (lambda: CoolDown(Wants(1), cooldown_s=-1.0), "cooldown_s"),
        (lambda: Recovery(Wants(1), recovery_ratio=float("nan")), "recovery_ratio"),
        (lambda: Known(Wants(1), needs=("arival_eps",)), "did you mean 'arrival_eps'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make: object, field: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=field):
        make()


# --- what cannot be reached is said, and nothing else changes


def test_the_verdict_is_beside_the_plan_and_does_not_change_it() -> None:
    slow = replace(workload(RATES), service_eps=2.0)
    plan = Reachable(Wants(3)).plan(context(slow))
    assert (plan.action, plan.target.count, plan.guard) == (Action.UP, 3, None)
    assert [str(warning) for warning in plan.warnings] == [
        "service alone takes 0.5 s along g: no number of consumers keeps the objective of 0.5 s; bounded at 3"
    ]
    assert not Reachable(Wants(3)).plan(context(replace(slow, service_eps=2.01))).warnings
    assert not Reachable(Wants(3)).plan(context(replace(slow, service_eps=None))).warnings


def test_service_counts_along_the_whole_path_and_against_its_own_objective() -> None:
    line = Topology(
        stages=(Stage(name="up", inputs=("in",), outputs=("t0",)), Stage(name="g", inputs=("t0",))), sources=("in",)
    )
    own = replace(workload(RATES), service_eps=4.0)
    before = replace(own, group="up")
    seen = context(own, topology=line, peers={"up": before, "g": own})
    # 0.25 s here are within 0.5 s, but not together with 0.25 s before.
    (verdict,) = Reachable(Wants(3)).plan(seen).warnings
    assert "takes 0.5 s along up → g" in str(verdict)
    loose = Objective(latency_s=0.5, paths=(PathObjective(stages=("up", "g"), latency_s=0.6),))
    assert not Reachable(Wants(3)).plan(replace(seen, objective=loose)).warnings
    # Who is not measured yet may be as quick as anybody.
    silent = {"up": replace(before, service_eps=None), "g": own}
    assert not Reachable(Wants(3)).plan(replace(seen, peers=silent)).warnings
