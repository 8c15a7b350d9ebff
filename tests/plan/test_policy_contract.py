"""What every registered policy promises, checked on any group Hypothesis can think of."""

import json
import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plan.contexts import contexts, decision

from sluice.model import Action, Objective, Workload, action_between, replace
from sluice.model.codec import decision_from_json, decision_to_json, decode, encode
from sluice.plan.balance import BALANCERS
from sluice.plan.base import PlanContext, Policy
from sluice.plan.guards.known import needs_of
from sluice.plan.placing import is_shared
from sluice.plan.registry import make_policy, policy_names, policy_parameters

# One context is shown to all policies: making contexts is what takes the time.
EXAMPLES = settings(max_examples=100, deadline=None)
POLICIES = {name: make_policy(name) for name in policy_names()}
SIZING = {
    name: {balancer: make_policy(name, balancer=balancer) for balancer in BALANCERS}
    for name in policy_names()
    if "balancer" in policy_parameters(name)
}
WAITING = {name: make_policy(name, wait_settled=True) for name in policy_names()}


@EXAMPLES
@given(context=contexts())
def test_a_plan_that_acts_gives_each_partition_exactly_one_owner(context: PlanContext) -> None:
    for name, policy in POLICIES.items():
        plan = policy.plan(context)
        target = plan.target
        assert target.partitions == context.workload.partitions, name
        assert len(set(target.consumers)) == target.count, name
        if plan.action is Action.HOLD:
            assert target.same_as(context.workload.assignment), name
        elif is_shared(context.workload.assignment):
            assert is_shared(target), name
        else:
            assert target.owner.min() >= 0, name
            assert target.owner.max() < target.count, name


@EXAMPLES
@given(context=contexts(), least=st.integers(1, 4), room=st.integers(0, 4))
def test_the_number_of_consumers_stays_in_its_bounds(context: PlanContext, least: int, room: int) -> None:
    context = calm(context)
    partitions = len(context.workload.partitions)
    most = least + room if is_shared(context.workload.assignment) else min(least + room, partitions)
    for name in POLICIES:
        policy = make_policy(name, min_consumers=least, max_consumers=least + room)
        assert min(least, most) <= policy.plan(context).target.count <= most, name


@EXAMPLES
@given(context=contexts())
def test_the_same_context_gives_the_same_plan_even_through_json(context: PlanContext) -> None:
    again = through_json(context)
    for name, policy in POLICIES.items():
        plan = policy.plan(context)
        assert policy.plan(context) == plan, name
        assert make_policy(name).plan(again) == plan, name


@EXAMPLES
@given(context=contexts())
def test_at_a_fixed_point_nothing_moves(context: PlanContext) -> None:
    for name, policy in POLICIES.items():
        # Some settle step by step (the modified packers need up to 40 steps), but nobody goes back and forth.
        actions = actions_until_hold(policy, calm(context), 40)
        assert actions[-1] is Action.HOLD, name
        assert not {Action.UP, Action.DOWN} <= set(actions), name


@EXAMPLES
@given(context=contexts(known=False))
def test_without_the_data_it_needs_a_policy_holds(context: PlanContext) -> None:
    for name, policy in POLICIES.items():
        plan = policy.plan(context)
        missing = [field for field in needs_of(bare(policy)) if is_missing(getattr(context.workload, field))]
        if missing:
            assert plan.action is Action.HOLD, name
            assert plan.guard == "missing data", name
            assert plan.target is context.workload.assignment, name
            assert any(field in str(plan.reason) for field in missing), name


@EXAMPLES
@given(context=contexts(known=False))
def test_a_plan_is_whole(context: PlanContext) -> None:
    """No NaN anywhere, every sentence can be put together, and the action is what the assignments say."""
    for name, policy in POLICIES.items():
        plan = policy.plan(context)
        assert plan.policy == name
        assert plan.action is action_between(plan.current, plan.target), name
        assert plan.current is context.workload.assignment, name
        sentences = (plan.reason, *plan.warnings, *(candidate.why_not for candidate in plan.rejected))
        assert all(str(sentence) for sentence in sentences), name
        numbers = [number for sentence in sentences for number in sentence.numbers.values()]
        told = plan.prediction
        if told is not None:
            numbers += [x for x in (told.utilisation, told.worst_latency_s, told.moved_events) if x is not None]
        assert all(math.isfinite(x) for x in numbers if not isinstance(x, str)), name
        if plan.guard is not None and plan.guard not in ("missing data", "no change"):
            assert plan.rejected, name


@EXAMPLES
@given(context=contexts())
def test_an_objective_that_service_alone_breaks_is_a_bound_and_a_verdict(context: PlanContext) -> None:
    assert context.workload.service_eps is not None
    service_s = 1 / context.workload.service_eps
    hopeless = replace(context, objective=Objective(latency_s=0.9 * service_s), topology=None, peers=None)
    partitions = len(context.workload.partitions)
    most = partitions if not is_shared(context.workload.assignment) else math.inf
    for name, policy in POLICIES.items():
        plan = policy.plan(hopeless)
        assert any("no number of consumers keeps the objective" in str(warning) for warning in plan.warnings), name
        assert plan.target.count <= max(most, context.workload.assignment.count), name
        kept = policy.plan(replace(hopeless, objective=Objective(latency_s=1.1 * service_s)))
        assert not any("no number of consumers keeps the objective" in str(warning) for warning in kept.warnings), name


@EXAMPLES
@given(context=contexts())
def test_who_only_says_how_many_leaves_the_rest_to_any_balancer(context: PlanContext) -> None:
    for name, by_balancer in SIZING.items():
        plans = {balancer: policy.plan(context) for balancer, policy in by_balancer.items()}
        assert len({plan.target.count for plan in plans.values()}) == 1, name
        for balancer, plan in plans.items():
            if plan.action in (Action.UP, Action.DOWN):
                dealt = BALANCERS[balancer].assign(context.workload, plan.target.count)
                assert plan.target.same_as(dealt), (name, balancer)


@EXAMPLES
@given(context=contexts())
def test_nothing_is_done_while_a_change_is_under_way(context: PlanContext) -> None:
    context = replace(context, workload=replace(context.workload, settled=False))
    for name, policy in WAITING.items():
        assert policy.plan(context).action is Action.HOLD, name


def bare(policy: Any) -> Any:
    """The policy without its guards."""
    while hasattr(policy, "wrapped"):
        policy = policy.wrapped
    return policy


def calm(context: PlanContext) -> PlanContext:
    """The same group and load, long after its last change."""
    load = replace(context.workload, settled=True)
    ticks = [decision(replace(load, time_s=load.time_s - ago), load.time_s - ago) for ago in range(12, 0, -1)]
    return replace(context, workload=load, recent=ticks)


def actions_until_hold(policy: Policy, context: PlanContext, most: int) -> list[Action]:
    """The same load, the policy's plans carried out, each long after the one before."""
    actions: list[Action] = []
    while len(actions) <= most and (not actions or actions[-1] is not Action.HOLD):
        plan = policy.plan(context)
        actions.append(plan.action)
        context = calm(replace(context, workload=replace(context.workload, assignment=plan.target)))
    return actions


def is_missing(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return bool(np.isnan(value).any())
    return value is None


def through_json(context: PlanContext) -> PlanContext:
    load = context.workload
    wire = json.loads(json.dumps(encode(load), allow_nan=False))
    recent = [decision_from_json(json.loads(json.dumps(decision_to_json(d), allow_nan=False))) for d in context.recent]
    return replace(context, workload=decode(Workload, wire, load.partitions), recent=recent)
