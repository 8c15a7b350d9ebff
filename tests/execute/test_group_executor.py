"""The group executor against a group that does what a broker and its members would do, one step at a time."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.errors import UnavailableError
from sluice.execute.board import PlanBoard
from sluice.execute.group import REACH_LIMIT_S, GroupExecutor
from sluice.execute.members import Members
from sluice.model import Action, Assignment, Partition, Plan, Reason, Receipt, action_between

P = tuple(Partition("t", n) for n in range(6))


@dataclass
class World:
    """Processes, and the group they form once they have joined."""

    alive: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    owned: dict[str, frozenset[Partition]] = field(default_factory=dict)
    answers: bool = True
    starts: int = 0

    def running(self) -> frozenset[str]:
        return frozenset(self.alive)

    def start(self, consumer: str) -> None:
        assert consumer not in self.alive
        if consumer in self.broken:
            raise UnavailableError("no such program")
        self.alive.add(consumer)
        self.starts += 1

    def stop(self, consumer: str) -> None:
        self.told.add(consumer)

    def last_words(self, consumer: str) -> str | None:
        return f"{consumer} was here"

    def members(self) -> Members | None:
        return Members(steady=True, owned=dict(self.owned)) if self.answers else None

    def settle(self, target: Assignment) -> None:
        """Everybody has joined or left, and the plan stands."""
        self.alive -= self.told
        self.told.clear()
        self.owned = {name: frozenset(held) for name, held in target.owned().items()}


def executor_of(world: World, board: PlanBoard | None) -> GroupExecutor:
    return GroupExecutor(group="g", board=board, fleet=world, members=world.members)


def assignment(**owned: str) -> Assignment:
    return Assignment.of({name: [P[int(n)] for n in held] for name, held in owned.items()}, partitions=P)


def plan_from(current: Assignment, target: Assignment, time_s: float = 0.0) -> Plan:
    return Plan(
        group="g",
        time_s=time_s,
        policy="test",
        action=action_between(current, target),
        current=current,
        target=target,
        reason=Reason("test"),
    )


NOBODY_THERE = assignment()
ONE = assignment(a="012345")
TWO = assignment(a="012", b="345")


def published(board: PlanBoard) -> tuple[Assignment, bool]:
    plan = board.read("g")
    assert plan is not None
    return plan.target, plan.wake


def test_scaling_up_disturbs_nobody_before_the_new_consumer_is_there() -> None:
    world, board = World(), PlanBoard()
    executor = executor_of(world, board)
    executor.apply(plan_from(NOBODY_THERE, ONE))
    world.settle(ONE)
    receipt = executor.apply(plan_from(ONE, TWO))
    assert receipt == Receipt(
        time_s=0.0,
        action=Action.UP,
        complete=False,
        started=("b",),
        moved_count=3,
        problem="the group is on its way",
    )
    assert published(board) == (TWO, False)
    world.settle(TWO)
    again = executor.apply(plan_from(ONE, TWO))
    assert (again.complete, again.started, again.problem) == (True, (), None)


def test_scaling_down_announces_the_plan_and_tells_the_leaver_once() -> None:
    world, board = World(alive={"a", "b"}), PlanBoard()
    world.settle(TWO)
    executor = executor_of(world, board)
    receipt = executor.apply(plan_from(TWO, ONE))
    assert (receipt.stopped, receipt.complete) == (("b",), False)
    assert published(board) == (ONE, True)
    assert executor.apply(plan_from(TWO, ONE)).stopped == ()
    world.settle(ONE)
    assert executor.apply(plan_from(ONE, ONE)).complete


def test_a_reassignment_wakes_the_group_at_once() -> None:
    world, board = World(alive={"a", "b"}), PlanBoard()
    world.settle(TWO)
    other = assignment(a="01", b="2345")
    assert not executor_of(world, board).apply(plan_from(TWO, other)).complete
    assert published(board) == (other, True)


def test_to_hold_finishes_what_was_begun_then_follows_what_is_there() -> None:
    world, board = World(alive={"a", "b"}), PlanBoard()
    world.settle(TWO)
    executor = executor_of(world, board)
    other = assignment(a="01", b="2345")
    executor.apply(plan_from(TWO, other))
    # The group has not moved yet, and the monitor still sees the old owners: holding must not undo the plan.
    assert not executor.apply(plan_from(TWO, TWO, 1.0)).complete
    assert published(board)[0] == other
    world.settle(other)
    assert executor.apply(plan_from(TWO, TWO, 2.0)).complete
    # b crashed, a has everything, and the policy is content: this is the plan now, and nobody is woken for it.
    world.alive.discard("b")
    world.settle(ONE)
    executor.apply(plan_from(ONE, ONE, 3.0))
    assert published(board) == (ONE, False)


def test_a_target_that_is_never_reached_is_given_up() -> None:
    world, board = World(alive={"a"}), PlanBoard()
    world.settle(ONE)
    executor = executor_of(world, board)
    executor.apply(plan_from(ONE, TWO))
    assert not executor.apply(plan_from(ONE, ONE, REACH_LIMIT_S)).complete
    receipt = executor.apply(plan_from(ONE, ONE, REACH_LIMIT_S + 1.0))
    assert published(board)[0] == ONE
    assert receipt.stopped == ("b",)


def test_a_consumer_that_ended_is_started_again_though_the_broker_still_shows_it() -> None:
    world, board = World(), PlanBoard()
    executor = executor_of(world, board)
    executor.apply(plan_from(NOBODY_THERE, TWO))
    world.settle(TWO)
    world.alive.discard("b")
    receipt = executor.apply(plan_from(TWO, TWO))
    assert (receipt.started, receipt.complete, receipt.problem) == ((), False, "b ended: b was here")
    assert executor.apply(plan_from(TWO, TWO, 0.4)).started == ()
    assert executor.apply(plan_from(TWO, TWO, 0.6)).started == ("b",)
    # One that left because it was told to is no problem when it is needed again.
    executor.apply(plan_from(TWO, ONE, 1.0))
    world.settle(ONE)
    receipt = executor.apply(plan_from(ONE, TWO, 2.0))
    assert (receipt.started, receipt.problem) == (("b",), "the group is on its way")


def test_nothing_is_started_while_the_broker_is_silent() -> None:
    world, board = World(answers=False), PlanBoard()
    receipt = executor_of(world, board).apply(plan_from(ONE, TWO))
    assert (receipt.started, receipt.complete, receipt.problem) == ((), False, "the broker did not answer")


def test_what_cannot_be_done_is_said() -> None:
    world, board = World(broken={"b"}), PlanBoard()
    world.owned = {"a": frozenset(P), "foreign": frozenset()}
    executor = executor_of(world, board)
    receipt = executor.apply(plan_from(assignment(a="012345", foreign=""), TWO))
    assert receipt.problem == (
        "b cannot be started: no such program; started by somebody else, to be stopped there: foreign"
    )
    assert not receipt.complete
    world.broken.clear()
    assert executor.apply(plan_from(ONE, TWO)).started == ("b",)


@pytest.mark.parametrize("owned", ["a:012 b:345", "a:135 b:024"])
def test_with_kafkas_own_assignor_only_the_members_count(owned: str) -> None:
    world = World(alive={"a", "b"})
    world.settle(assignment(**dict(item.split(":") for item in owned.split())))
    assert executor_of(world, None).apply(plan_from(ONE, TWO)).complete


@st.composite
def targets(draw: st.DrawFn) -> Assignment:
    names = draw(st.lists(st.sampled_from("abcd"), min_size=1, unique=True))
    owned: dict[str, list[Partition]] = {name: [] for name in names}
    for partition in P:
        owned[draw(st.sampled_from(names))].append(partition)
    return Assignment.of(owned, partitions=P)


@settings(max_examples=60)
@given(st.lists(targets(), min_size=1, max_size=6))
def test_applying_twice_is_applying_once_and_the_processes_follow_the_plan(steps: list[Assignment]) -> None:
    world, board = World(), PlanBoard()
    executor = executor_of(world, board)
    current = NOBODY_THERE
    for target in steps:
        plan = plan_from(current, target)
        executor.apply(plan)
        before = (set(world.alive), set(world.told), world.starts, board.read("g"))
        second = executor.apply(plan)
        assert (second.started, second.stopped) == ((), ())
        after = board.read("g")
        assert before[3] is not None
        assert after is not None
        assert (set(world.alive), set(world.told), world.starts) == before[:3]
        assert (after.version, after.wake) == (before[3].version, before[3].wake)
        world.settle(target)
        assert world.alive == set(target.consumers)
        assert executor.apply(plan).complete
        current = target
