"""Algorithms 1 and 2 against examples worked by hand and against the algorithms written out plainly."""

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plan.contexts import context, workload

from sluice.errors import InputError
from sluice.model import Action, Plan
from sluice.plan.base import PlanContext
from sluice.plan.binpack import Binpack
from sluice.plan.tail_binpack import TailBinpack

# μ = 200 events/s and w = 0.5 s throughout: at f_up = 0.9 a consumer takes 180 events/s and 90 events of lag, at
# f_down = 0.4 it takes 80 events/s and 40 events.


def even(partitions: int, rate: float, lag: float, owner: list[int], consumers: int, **more: Any) -> PlanContext:
    return context(workload([rate] * partitions, [lag] * partitions, owner=owner, consumers=consumers, **more))


def test_more_bins_than_consumers_is_up() -> None:
    # Two bursts of 40 fit under 90, a third does not: three bins for five.
    plan = Binpack().plan(even(5, 40, 40, [0] * 5, 1))
    assert (plan.action, plan.target.count) == (Action.UP, 3)
    assert plan.target.load(plan_lag(plan, 40.0)).max() <= 90
    assert plan.rejected[0].name == "stay"
    assert "3 consumers are needed to stay within 0.9 of capacity, 1 are there" in str(plan.reason)


def test_fewer_bins_by_f_down_is_down() -> None:
    plan = Binpack().plan(even(5, 10, 5, [0, 1, 2, 0, 1], 3))
    assert (plan.action, plan.target.count) == (Action.DOWN, 1)


def test_between_the_factors_is_hold() -> None:
    # 100 events/s in all: one consumer would do by f_up, two are needed by f_down.
    plan = Binpack().plan(even(5, 20, 0, [0, 0, 0, 1, 1], 2))
    assert (plan.action, plan.guard) == (Action.HOLD, None)
    assert "1 are needed within 0.9 of capacity, 2 within 0.4" in str(plan.reason)


def test_a_consumer_above_f_up_is_reassigned() -> None:
    overfull = context(workload([20.0] * 5, [40, 40, 40, 0, 0], owner=[0, 0, 0, 1, 1], consumers=2))
    plan = Binpack().plan(overfull)
    assert (plan.action, plan.target.count) == (Action.REASSIGN, 2)
    assert plan.target.load(overfull.workload.lag_events).max() <= 90
    assert {candidate.name for candidate in plan.rejected} == {"stay", "down"}


def test_exactly_at_capacity_is_no_violation() -> None:
    full = context(workload([20.0] * 5, [45, 45, 0, 0, 0], owner=[0, 0, 0, 1, 1], consumers=2))
    assert Binpack().plan(full).action is Action.HOLD
    above = context(workload([20.0] * 5, [45, 45.1, 0, 0, 0], owner=[0, 0, 0, 1, 1], consumers=2))
    assert Binpack().plan(above).action is Action.REASSIGN


def test_a_repacking_that_needs_fewer_keeps_the_others() -> None:
    # By f_down two are needed (100 events/s); c0 holds it all and is above f_up by its lag; one bin takes 180.
    lonely = context(workload([20.0] * 5, [30, 30, 31, 0, 0], owner=[0, 0, 0, 0, 0], consumers=3))
    plan = Binpack(f_down=0.2).plan(lonely)
    assert (plan.action, plan.target.count) == (Action.REASSIGN, 3)


def test_a_partition_too_big_for_any_consumer_gets_one_to_itself_and_a_warning() -> None:
    plan = Binpack().plan(context(workload([250.0, 20.0, 20.0])))
    assert (plan.action, plan.target.count) == (Action.UP, 2)
    assert plan.target.owner.tolist() in ([0, 1, 1], [1, 0, 0])
    assert any("needs more partitions or a faster consumer" in str(warning) for warning in plan.warnings)
    alone = context(workload([250.0, 50.0, 50.0], owner=[0, 1, 1], consumers=2))
    plan = Binpack().plan(alone)
    assert plan.action is Action.HOLD  # it breaks the bound for ever, and nothing would cure it
    assert plan.warnings


def test_an_orphan_finds_an_owner() -> None:
    plan = Binpack().plan(context(workload([20.0] * 5, owner=[0, 0, 1, 1, -1], consumers=2)))
    assert plan.action is Action.REASSIGN
    assert plan.target.owner.min() >= 0


def test_little_moves_when_bins_get_their_names() -> None:
    load = context(workload([90.0, 80, 70, 60, 50, 40], owner=[1, 1, 0, 0, 0, 1], consumers=2))
    plan = Binpack().plan(load)
    assert (plan.action, plan.target.count) == (Action.UP, 3)
    rate, before, after = load.workload.arrival_eps, plan.current.owner, plan.target.owner
    kept = [float(rate[before == np.array(names)[after]].sum()) for names in permutations(range(3))]
    assert float(rate[~plan.current.moved(plan.target)].sum()) == max(kept)


def test_tail_packs_what_piles_up_during_the_rebalance() -> None:
    load = even(5, 40, 40, [0] * 5, 1, rebalance_s=0.5)
    # lag + λ·t_r = 60: each partition fills a consumer of 90 alone.
    assert TailBinpack().plan(load).target.count == 5
    assert Binpack().plan(load).target.count == 3


def test_tail_defers_a_shrinking_that_the_rebalance_would_not_survive() -> None:
    calm = even(5, 10, 0, [0, 0, 0, 1, 1], 2, rebalance_s=2.0)
    assert Binpack().plan(calm).action is Action.DOWN
    plan = TailBinpack().plan(calm)
    # 20 events pile up on each: two fit under 40, so three consumers would be needed.
    assert plan.action is Action.HOLD
    assert (plan.rejected[0].name, plan.rejected[0].consumers) == ("down", 1)
    assert "3 are needed for what piles up in a rebalance of 2 s" in str(plan.reason)
    assert TailBinpack().plan(even(5, 10, 0, [0, 0, 0, 1, 1], 2, rebalance_s=0.5)).action is Action.DOWN


def test_tail_turns_a_reassignment_into_growth_where_the_backlog_asks_for_it() -> None:
    overfull = workload([20.0] * 5, [40, 40, 40, 0, 0], owner=[0, 0, 0, 1, 1], consumers=2, rebalance_s=0.0)
    assert TailBinpack().plan(context(overfull)).action is Action.REASSIGN
    slow = workload([20.0] * 5, [40, 40, 40, 0, 0], owner=[0, 0, 0, 1, 1], consumers=2, rebalance_s=1.0)
    assert TailBinpack().plan(context(slow)).action is Action.UP


def test_tail_holds_when_algorithm_1_would_even_if_the_backlog_would_not_fit() -> None:
    plan = TailBinpack().plan(even(5, 20, 0, [0, 0, 0, 1, 1], 2, rebalance_s=100.0))
    assert plan.action is Action.HOLD


def test_a_rebalance_as_long_as_the_objective_is_warned_of() -> None:
    for policy in (Binpack(), TailBinpack()):
        warned = policy.plan(even(5, 20, 0, [0, 0, 0, 1, 1], 2, rebalance_s=0.5)).warnings
        assert "every move breaks it" in str(warned[0])
        assert not policy.plan(even(5, 20, 0, [0, 0, 0, 1, 1], 2, rebalance_s=0.49)).warnings


def test_tail_says_when_it_does_not_know_the_rebalance_time() -> None:
    plan = TailBinpack().plan(even(5, 40, 40, [0] * 5, 1))
    assert plan.target.count == 3
    assert any("not known yet" in str(warning) for warning in plan.warnings)


def test_in_a_shared_group_only_the_number_changes() -> None:
    plan = TailBinpack().plan(even(5, 40, 40, [-1] * 5, 1))
    assert (plan.action, plan.target.count) == (Action.UP, 3)
    assert plan.target.owner.tolist() == [-1] * 5


@pytest.mark.parametrize(("f_up", "f_down"), [(0.4, 0.4), (0.4, 0.9), (1.0, 0.4), (0.9, 0.0), (math.nan, 0.4)])
def test_factors_must_be_in_order(f_up: float, f_down: float) -> None:
    for kind in (Binpack, TailBinpack):
        with pytest.raises(InputError, match="0 < f_down < f_up < 1"):
            kind(f_up=f_up, f_down=f_down)


def plan_lag(plan: Plan, lag: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.full(len(plan.current.partitions), lag)


# --- the algorithms written out plainly, as slow as can be


def plain_bins(rate: list[float], lag: list[float], cap: float, w: float) -> int:
    items = sorted(zip(rate, lag, range(len(rate)), strict=True), key=lambda x: (-x[0], -x[1], x[2]))
    big = [item for item in items if item[0] > cap or item[1] > cap * w]
    rest = [item for item in items if item not in big]
    count = 0 if not rest else 1
    while True:
        bins = [[0.0, 0.0] for _ in range(count)]
        if all(plain_place(bins, r, v, cap, w) for r, v, _ in rest):
            return count + len(big)
        count += 1


def plain_place(bins: list[list[float]], rate: float, lag: float, cap: float, w: float) -> bool:
    fitting = [b for b in bins if b[0] + rate <= cap and b[1] + lag <= cap * w]
    if not fitting:
        return False
    chosen = min(fitting, key=lambda b: (b[0], b[1]))
    chosen[0] += rate
    chosen[1] += lag
    return True


def plain_action(load: PlanContext, f_up: float, f_down: float, tail: bool) -> tuple[Action, int]:
    w, mu = load.objective.latency_s, load.workload.service_eps or 0.0
    rate, lag = load.workload.arrival_eps.tolist(), load.workload.lag_events.tolist()
    now = load.workload.assignment
    owner = now.owner.tolist()

    def bins(factor: float, pause_s: float) -> int:
        return plain_bins(rate, [v + r * pause_s for r, v in zip(rate, lag, strict=True)], mu * factor, w)

    pause_s = load.workload.rebalance_s or 0.0 if tail else 0.0
    mine = [[i for i, o in enumerate(owner) if o == c] for c in range(now.count)]
    broken = any(
        len(held) > 1 and (sum(rate[i] for i in held) > mu * f_up or sum(lag[i] for i in held) > mu * f_up * w)
        for held in mine
    )
    if bins(f_up, 0.0) > now.count:
        return Action.UP, bins(f_up, pause_s)
    if bins(f_down, 0.0) < now.count:
        later = bins(f_down, pause_s)
        return (Action.DOWN, later) if later < now.count else (Action.HOLD, now.count)
    if not broken:
        return Action.HOLD, now.count
    later = bins(f_up, pause_s)
    return (Action.UP, later) if later > now.count else (Action.REASSIGN, now.count)


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_both_algorithms_do_what_is_written(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    consumers = data.draw(st.integers(1, n))
    # Whole numbers keep the sums exact, whatever the order they are added in.
    numbers = st.lists(st.integers(0, 120).map(float), min_size=n, max_size=n)
    load = context(
        workload(
            data.draw(numbers),
            data.draw(numbers),
            owner=data.draw(st.lists(st.integers(0, consumers - 1), min_size=n, max_size=n)),
            consumers=consumers,
            rebalance_s=data.draw(st.sampled_from([0.0, 0.5, 1.0, 2.0])),
        )
    )
    for policy, tail in ((Binpack(f_up=0.75, f_down=0.25), False), (TailBinpack(f_up=0.75, f_down=0.25), True)):
        plan = policy.plan(load)
        action, count = plain_action(load, 0.75, 0.25, tail)
        # A reassignment that changes nothing is a hold.
        assert plan.action in (action, Action.HOLD if action is Action.REASSIGN else action)
        assert plan.target.count == count
