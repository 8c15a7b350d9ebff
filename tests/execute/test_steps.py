"""The steps of a plan, carried out on paper by an independent model that refuses a second owner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.execute.steps import Await, Launch, Retire, StartReading, Step, StopReading, completed, steps, without
from sluice.model import Assignment, Partition

NAMES = tuple(f"c{i}" for i in range(5))
PARTITIONS = tuple(Partition("t", i) for i in range(7))


class Paper:
    """A group on paper."""

    def __init__(self, start: Assignment) -> None:
        self.consumers = set(start.consumers)
        self.owner = {p: name for name, held in start.owned().items() for p in held}
        self.ready = set(start.consumers)

    def carry_out(self, step: Step) -> None:
        match step:
            case Launch(name):
                assert name not in self.consumers
                self.consumers.add(name)
            case Await(names):
                assert set(names) <= self.consumers
                self.ready |= set(names)
            case StopReading(partition, name):
                assert self.owner.pop(partition) == name
            case StartReading(partition, name):
                assert partition not in self.owner, f"{partition} would have two owners"
                assert name in self.ready
                self.owner[partition] = name
            case Retire(name):
                assert name not in self.owner.values()
                self.consumers.remove(name)

    def assignment(self) -> Assignment:
        owned = {name: [p for p, o in self.owner.items() if o == name] for name in sorted(self.consumers)}
        return Assignment.of(owned, partitions=PARTITIONS)


@st.composite
def assignments(draw: st.DrawFn) -> Assignment:
    consumers = draw(st.lists(st.sampled_from(NAMES), unique=True))
    owner = draw(st.lists(st.integers(-1, len(consumers) - 1), min_size=len(PARTITIONS), max_size=len(PARTITIONS)))
    owned = {name: [p for p, o in zip(PARTITIONS, owner, strict=True) if o == i] for i, name in enumerate(consumers)}
    return Assignment.of(owned, partitions=PARTITIONS)


@given(current=assignments(), target=assignments())
def test_no_prefix_has_two_owners_and_the_end_is_the_target(current: Assignment, target: Assignment) -> None:
    paper = Paper(current)
    for step in steps(current, target):
        paper.carry_out(step)
    assert paper.assignment().same_as(target)


@given(current=assignments(), target=assignments(), data=st.data())
def test_whatever_was_done_already_the_rest_leads_to_the_target(
    current: Assignment, target: Assignment, data: st.DataObject
) -> None:
    """Applying twice equals once, and half a plan that failed is picked up where it stopped."""
    paper = Paper(current)
    plan = steps(current, target)
    for step in plan[: data.draw(st.integers(0, len(plan)))]:
        paper.carry_out(step)
    # Who was launched in the first half has become ready meanwhile.
    paper.ready = set(paper.consumers)
    rest = steps(paper.assignment(), target)
    for step in rest:
        paper.carry_out(step)
    assert paper.assignment().same_as(target)
    assert steps(paper.assignment(), target) == ()


@given(current=assignments(), target=assignments())
def test_nobody_is_stopped_before_everybody_is_ready_and_only_what_moves_stops(
    current: Assignment, target: Assignment
) -> None:
    plan = steps(current, target)
    waits = [i for i, step in enumerate(plan) if isinstance(step, Await)]
    stops = [i for i, step in enumerate(plan) if isinstance(step, StopReading)]
    assert all(i > waits[0] for i in stops)
    stopped = {step.partition for step in plan if isinstance(step, StopReading)}
    assert stopped == {move.partition for move in current.moves(target) if move.source is not None}


@given(assignment=assignments())
def test_completed_leaves_no_orphan_and_moves_nothing(assignment: Assignment) -> None:
    done = completed(assignment)
    assert all(done.owner >= 0)
    assert all(move.source is None for move in assignment.moves(done))
    assert set(assignment.consumers) <= set(done.consumers)


@given(assignment=assignments(), name=st.sampled_from(NAMES))
def test_without_gives_the_partitions_of_one_to_the_others(assignment: Assignment, name: str) -> None:
    rest = without(assignment, name)
    if name not in assignment.consumers or assignment.count == 1:
        assert rest is assignment
    else:
        assert set(rest.consumers) == set(assignment.consumers) - {name}
        assert all(rest.owner >= 0)
        assert {m.source for m in assignment.moves(rest)} <= {name, None}


def test_orphans_do_not_wait_for_a_consumer_that_is_still_starting() -> None:
    current = Assignment.of({"c0": [PARTITIONS[0]]}, partitions=PARTITIONS[:2])
    target = Assignment.of({"c0": [PARTITIONS[1]], "c1": [PARTITIONS[0]]})
    assert steps(current, target) == (
        Launch("c1"),
        StartReading(PARTITIONS[1], "c0"),
        Await(("c0", "c1")),
        StopReading(PARTITIONS[0], "c0"),
        StartReading(PARTITIONS[0], "c1"),
    )


def test_different_topics_cannot_be_compared() -> None:
    one, other = Assignment.of({"c0": [Partition("a", 0)]}), Assignment.of({"c0": [Partition("b", 0)]})
    with pytest.raises(Exception, match="different partitions"):
        steps(one, other)
