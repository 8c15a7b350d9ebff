"""The simple policies, the packers as policies and the balancers, by hand."""

import numpy as np
import pytest
from tests.plan.contexts import context, decision, workload

from sluice.errors import InputError
from sluice.model import Action, Partition, Workload, replace
from sluice.model.values import floats
from sluice.plan.balance import BALANCERS, balancer_named
from sluice.plan.bytes_packing import BytesPacking
from sluice.plan.hold import Hold
from sluice.plan.linear import Linear
from sluice.plan.overprovision import Overprovision
from sluice.plan.paper_optimal import PaperOptimal
from sluice.theory.packing import PACKERS


def test_hold_holds() -> None:
    assert Hold().plan(context(workload([1e9]))).action is Action.HOLD


def test_overprovision_takes_five_consumers_for_workload_a() -> None:
    # 350 events/s over five partitions: 70 as a burst, and two of them do not fit under 0.9 · 200 · 0.5 = 90.
    start = context(workload([1.0] * 5))
    plan = Overprovision(peak_eps=350.0).plan(start)
    assert (plan.action, plan.target.count) == (Action.UP, 5)
    # By rate alone 180 events/s take two partitions of 70: an objective too wide to matter gives three.
    assert Overprovision(peak_eps=350.0).plan(context(workload([1.0] * 5), latency_s=100.0)).target.count == 3


def test_overprovision_never_shrinks_and_learns_the_peak_if_it_is_not_told() -> None:
    idle = workload([0.0] * 5, owner=[0, 1, 2, 3, 4], consumers=5)
    assert Overprovision(peak_eps=10.0).plan(context(idle)).action is Action.HOLD
    quiet = workload([1.0] * 5)
    busy = decision(replace(quiet, arrival_eps=floats([70.0] * 5)), 1.0)
    assert Overprovision().plan(context(quiet)).action is Action.HOLD
    assert Overprovision().plan(context(quiet, recent=[busy])).target.count == 5


@pytest.mark.parametrize(("total", "count"), [(0, 1), (88, 1), (89, 2), (177, 2), (178, 3), (350, 4), (10_000, 5)])
def test_linear_is_proportional(total: float, count: int) -> None:
    plan = Linear().plan(context(workload([total / 5] * 5)))
    assert plan.target.count == count


def test_linear_lets_the_range_assignor_put_the_hot_partitions_together() -> None:
    plan = Linear().plan(context(workload([70.0, 70.0, 20, 20, 20, 20, 20, 20, 20])))
    assert plan.target.count == 4
    assert plan.target.owner.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3]


def test_linear_stands_while_its_number_stands() -> None:
    crooked = workload([20.0] * 5, owner=[0, 0, 0, 0, 1], consumers=2)
    assert Linear().plan(context(crooked)).action is Action.HOLD


@pytest.mark.parametrize(("each", "count"), [(10, 1), (17, 1), (18, 2), (42, 3), (43, 5)])
def test_paper_optimal_counts_a_replica_for_every_burst_it_can_finish(each: float, count: int) -> None:
    plan = PaperOptimal().plan(context(workload([each] * 5)))
    assert plan.target.count == count


@pytest.mark.parametrize(
    ("each", "now", "count"), [(41, 5, 5), (40, 5, 3), (42, 3, 3), (43, 3, 5), (17, 2, 2), (16, 2, 1)]
)
def test_paper_optimal_removes_a_replica_only_when_fewer_do_with_room_to_spare(
    each: float, now: int, count: int
) -> None:
    load = workload([each] * 5, owner=[i % now for i in range(5)], consumers=now)
    plan = PaperOptimal(down_factor=0.8).plan(context(load))
    assert plan.target.count == count
    assert plan.target.load(floats([each] * 5)).max() <= 85.0


def test_paper_optimal_repacks_who_is_over_even_if_nobody_can_leave() -> None:
    crooked = workload([42.0] * 5, owner=[0, 0, 0, 1, 2], consumers=4)
    plan = PaperOptimal(down_factor=0.8).plan(context(crooked))
    assert plan.action is Action.REASSIGN
    assert plan.target.load(floats([42.0] * 5)).max() <= 85.0


def test_paper_optimal_refuses_to_shrink_earlier_than_it_grows() -> None:
    with pytest.raises(InputError, match=r"down_factor is 0\.9"):
        PaperOptimal(down_factor=0.9)


# --- packers as policies


def by_bytes(*rates: float, consumers: int = 1, time_s: float = 1000.0, owner: list[int] | None = None) -> Workload:
    load = workload([0.0] * len(rates), owner=owner, consumers=consumers)
    return replace(load, arrival_bps=floats(rates), capacity_bps=100.0, time_s=time_s)


@pytest.mark.parametrize("algorithm", list(PACKERS))
def test_a_packer_packs_bytes_against_its_share_of_the_capacity(algorithm: str) -> None:
    load = by_bytes(40, 35, 30, 25, 20)
    plan = BytesPacking(algorithm=algorithm, capacity_ratio=0.75).plan(context(load))
    owner = PACKERS[algorithm](np.array([40.0, 35, 30, 25, 20]), np.zeros(5, dtype=np.int64), 75.0)
    assert plan.target.count == len(set(owner.tolist()))
    assert plan.target.load(floats([40, 35, 30, 25, 20])).max() <= 75.0
    assert plan.policy == algorithm


def test_a_packer_waits_for_its_time_unless_a_consumer_cannot_keep_up() -> None:
    policy = BytesPacking(algorithm="bfd", every_s=30.0)
    load = by_bytes(20, 20, 20, owner=[0, 0, 1], consumers=2, time_s=1001.0)
    ask = context(load, recent=[decision(load, 1000.0)])
    plan = policy.plan(ask)
    assert plan.action is Action.HOLD
    assert "due at 1020 s" in str(plan.reason)
    due = context(replace(load, time_s=1020.0), recent=[decision(load, 1019.0)])
    assert policy.plan(due).action is Action.DOWN
    over = by_bytes(80, 30, 20, owner=[0, 0, 1], consumers=2, time_s=1001.0)
    assert policy.plan(context(over, recent=[decision(over, 1000.0)])).action is Action.REASSIGN
    # One partition alone above the capacity: nothing to be gained by moving the others.
    alone = by_bytes(120, 30, 20, owner=[0, 1, 2], consumers=3, time_s=1001.0)
    plan = policy.plan(context(alone, recent=[decision(alone, 1000.0)]))
    assert plan.action is Action.HOLD
    assert "needs more partitions or a faster consumer" in str(plan.warnings[0])


def test_a_modified_packer_moves_small_partitions_only() -> None:
    # c0 is too full for 75: its smallest partition leaves, the big ones stay.
    load = by_bytes(40, 30, 10, 30, owner=[0, 0, 0, 1], consumers=2)
    plan = BytesPacking(algorithm="mwf").plan(context(load))
    assert plan.target.owner.tolist() == [0, 0, 1, 1]


# --- balancers


def test_balancers_deal_out_as_kafka_does() -> None:
    two_topics = workload([1.0] * 6, owner=[0, 0, 0, 0, 0, 0], consumers=1)
    # Range starts anew with each topic, round robin goes on.
    topics = replace(two_topics, assignment=replace(two_topics.assignment, partitions=topic_pairs()))
    assert balancer_named("range").assign(topics, 2).owner.tolist() == [0, 0, 1, 0, 0, 1]
    assert balancer_named("round-robin").assign(topics, 2).owner.tolist() == [0, 1, 0, 1, 0, 1]


def test_cooperative_sticky_moves_no_more_than_it_must() -> None:
    load = workload([1.0] * 6, owner=[0, 0, 0, 1, 1, 1], consumers=2)
    target = balancer_named("cooperative-sticky").assign(load, 3)
    assert np.bincount(target.owner).tolist() == [2, 2, 2]
    assert int(load.assignment.moved(target).sum()) == 2


def test_least_loaded_looks_at_the_rates() -> None:
    load = workload([60.0, 30.0, 20.0, 10.0])
    target = balancer_named("least-loaded").assign(load, 2)
    assert target.load(load.arrival_eps).tolist() == [60.0, 60.0]


@pytest.mark.parametrize("name", list(BALANCERS))
@pytest.mark.parametrize("count", [1, 3, 6, 8])
def test_balancers_use_exactly_the_number_asked_for_and_keep_names(name: str, count: int) -> None:
    load = workload([1.0, np.nan, 3.0, 4.0, 5.0, 6.0], owner=[0, 1, -1, 0, 1, 2], consumers=3)
    target = balancer_named(name).assign(load, count)
    assert target.count == count
    assert target.owner.min() >= 0
    assert len(set(target.consumers) & {"c0", "c1", "c2"}) == min(count, 3)
    shared = workload([1.0, 2.0], owner=[-1, -1], consumers=3)
    assert balancer_named(name).assign(shared, count).owner.tolist() == [-1, -1]


def topic_pairs() -> tuple[Partition, ...]:
    return tuple(Partition(topic, number) for topic in ("a", "b") for number in range(3))
