"""The helm around a monitor and an executor: who may act, and that a change under way is carried on."""

import numpy as np

from sluice.control.helm import Helm
from sluice.control.state import State
from sluice.model import Action, Assignment, Partition, Plan, Reason, Receipt, Snapshot, replace
from sluice.model.values import floats

PARTITIONS = (Partition("t", 0), Partition("t", 1))
ONE = Assignment.of({"c0": PARTITIONS})
TWO = Assignment.of({"c0": PARTITIONS[:1], "c1": PARTITIONS[1:]})


class World:
    """A group as the test says it is; what is handed over is kept."""

    def __init__(self) -> None:
        self.time_s = 0.0
        self.settled = True
        self.end = [10.0, 10.0]
        self.epoch: int | None = 1
        self.complete = True
        self.applied: list[Plan] = []
        self.helm = Helm(self, self, groups=["g"], epoch=lambda _: self.epoch)

    def observe(self) -> tuple[Snapshot, ...]:
        seen = Snapshot(
            group="g",
            time_s=self.time_s,
            assignment=ONE,
            end_events=floats(self.end),
            committed_events=floats([0, 0]),
            settled=self.settled,
        )
        return (seen,)

    def apply(self, plan: Plan) -> Receipt:
        self.applied.append(plan)
        return Receipt(time_s=plan.time_s, action=plan.action, complete=self.complete)

    def tick(self, action: Action, target: Assignment = ONE) -> tuple[Snapshot, Receipt]:
        self.time_s += 1.0
        (seen,) = self.helm.observe()
        plan = Plan(
            group="g", time_s=self.time_s, policy="p", action=action, current=ONE, target=target, reason=Reason("")
        )
        return seen, self.helm.apply(plan)


def test_who_does_not_lead_shows_the_group_as_unsettled_and_hands_nothing_over() -> None:
    world = World()
    world.epoch = None
    seen, receipt = world.tick(Action.UP, TWO)
    assert not seen.settled
    assert receipt.action is Action.HOLD
    assert receipt.problem == "this controller does not lead"
    assert world.applied == []


def test_a_new_leader_looks_before_it_acts() -> None:
    world = World()
    world.epoch = None
    world.tick(Action.HOLD)
    world.epoch = 5
    seen, _ = world.tick(Action.HOLD)
    assert not seen.settled
    assert world.helm.state("g") is State.SYNCHRONIZE
    world.settled = False
    assert not world.tick(Action.HOLD)[0].settled
    world.settled = True
    seen, receipt = world.tick(Action.UP, TWO)
    assert seen.settled
    assert receipt.action is Action.UP
    assert world.applied[-1].target is TWO


def test_a_lead_lost_between_look_and_act_is_no_lead() -> None:
    world = World()
    world.tick(Action.HOLD)
    (seen,) = world.helm.observe()
    assert seen.settled
    world.epoch = 2
    plan = replace(world.applied[-1], action=Action.UP, target=TWO)
    assert world.helm.apply(plan).action is Action.HOLD
    assert all(done.action is Action.HOLD for done in world.applied)


def test_a_change_that_is_not_done_is_handed_over_again_until_it_is() -> None:
    world = World()
    world.tick(Action.HOLD)
    world.complete = False
    world.tick(Action.UP, TWO)
    seen, _ = world.tick(Action.HOLD)
    assert not seen.settled
    assert [plan.target for plan in world.applied[-2:]] == [TWO, TWO]
    world.complete = True
    world.tick(Action.HOLD)
    assert world.applied[-1].target is TWO
    seen, _ = world.tick(Action.HOLD)
    assert seen.settled
    assert world.applied[-1].action is Action.HOLD


def test_without_data_it_holds_and_then_looks_again() -> None:
    world = World()
    world.tick(Action.HOLD)
    world.end = [np.nan, 10.0]
    seen, receipt = world.tick(Action.DOWN, TWO)
    assert not seen.settled
    assert receipt.action is Action.HOLD
    assert world.helm.state("g") is State.SYNCHRONIZE
    world.end = [10.0, 10.0]
    world.tick(Action.HOLD)
    assert world.helm.state("g") is State.SENTINEL
