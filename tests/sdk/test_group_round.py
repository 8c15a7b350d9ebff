"""The leader's arithmetic: at most one owner each round, everything owned after two."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sluice.model import Assignment, Partition
from sluice.sdk.group_round import (
    Member,
    Round,
    cooperative_round,
    eager_round,
    holders,
    partitions_of,
    planned_target,
)

TOPICS = ("a", "b")
PARTITIONS = tuple(Partition(topic, number) for topic in TOPICS for number in range(6))


@st.composite
def groups(draw: st.DrawFn) -> tuple[Assignment, list[Member]]:
    """A plan, and members that need not match it: unknown names, missing consumers, doubled names, stale claims."""
    plan_names = draw(st.lists(st.sampled_from("vwxyz"), unique=True, max_size=4))
    planned: dict[str, list[Partition]] = {name: [] for name in plan_names}
    member_names = draw(st.lists(st.sampled_from("uvwxyz"), min_size=1, max_size=5))
    members = [
        Member(
            member_id=f"{name}-{i}",
            name=name,
            topics=draw(st.sampled_from([frozenset(TOPICS), frozenset(TOPICS), frozenset("a")])),
            generation=draw(st.integers(3, 5)),
        )
        for i, name in enumerate(member_names)
    ]
    claims: list[set[Partition]] = [set() for _ in members]
    for partition in PARTITIONS:
        named = draw(st.integers(0, 9)) > 0
        if plan_names and named:
            planned[draw(st.sampled_from(plan_names))].append(partition)
        for claimant in draw(st.lists(st.integers(0, len(members) - 1), unique=True, max_size=2)):
            claims[claimant].add(partition)
    held = [
        replace(m, owned=frozenset(p for p in c if p.topic in m.topics)) for m, c in zip(members, claims, strict=True)
    ]
    return Assignment.of(planned, partitions=PARTITIONS), held


def after(round_: Round, members: list[Member]) -> list[Member]:
    """The members once each has taken what the round gave it."""
    generation = 1 + max(m.generation for m in members)
    return [replace(m, owned=frozenset(round_.given[m.member_id]), generation=generation) for m in members]


def readable(members: list[Member]) -> set[Partition]:
    return {p for p in PARTITIONS if any(p.topic in m.topics for m in members)}


@given(groups())
def test_cooperative_every_partition_has_at_most_one_owner_and_all_have_one_after_two_rounds(
    group: tuple[Assignment, list[Member]],
) -> None:
    plan, members = group
    for number in (1, 2):
        before = members
        target = planned_target(plan, members, PARTITIONS)
        round_ = cooperative_round(target, members)
        times = Counter(p for held in round_.given.values() for p in held)
        assert all(count == 1 for count in times.values())
        # A member may take its share before another has let go of its own: what somebody rightfully owns is not given.
        rightful = holders(before)
        for member_id, held in round_.given.items():
            assert all(p not in rightful or rightful[p] == member_id for p in held)
        members = after(round_, members)
        if set(times) == readable(members):
            assert not round_.again
            break
        assert round_.again
        assert number == 1
    assert set(times) == readable(members)


@given(groups())
def test_the_plan_stands_in_the_end_wherever_its_consumer_is_there(group: tuple[Assignment, list[Member]]) -> None:
    plan, members = group
    for _ in range(2):
        members = after(cooperative_round(planned_target(plan, members, PARTITIONS), members), members)
    owner = {p: m.name for m in members for p in m.owned}
    present = {m.name for m in members}
    every_topic = all(len(m.topics) == len(TOPICS) for m in members)
    for name, planned in plan.owned().items():
        if name in present and every_topic:
            assert all(owner[p] == name for p in planned)
    # The group stays as it is while nothing changes.
    again = cooperative_round(planned_target(plan, members, PARTITIONS), members)
    assert after(again, members) == [replace(m, generation=m.generation + 1) for m in members]


@given(groups())
def test_eager_gives_everything_at_once(group: tuple[Assignment, list[Member]]) -> None:
    plan, members = group
    round_ = eager_round(planned_target(plan, members, PARTITIONS), members)
    given_out = [p for held in round_.given.values() for p in held]
    assert sorted(given_out) == sorted(readable(members))
    assert not round_.again
    assert set(round_.given) == {m.member_id for m in members}


def member(name: str, *owned: int, topics: str = "a", generation: int = 1) -> Member:
    return Member(
        member_id=f"{name}-1",
        name=name,
        topics=frozenset(topics),
        owned=frozenset(Partition("a", n) for n in owned),
        generation=generation,
    )


def plan_of(**owned: tuple[int, ...]) -> Assignment:
    return Assignment.of({name: [Partition("a", n) for n in numbers] for name, numbers in owned.items()})


A = tuple(Partition("a", n) for n in range(4))


def test_a_consumer_that_is_still_starting_leaves_its_share_where_it_is() -> None:
    members = [member("c0", 0, 1, 2, 3)]
    target = planned_target(plan_of(c0=(0, 1), c1=(2, 3)), members, A)
    assert target == dict.fromkeys(A, "c0-1")
    assert not cooperative_round(target, members).again


def test_a_crashed_consumers_share_goes_to_the_plans_least_loaded_member_not_to_a_stranger() -> None:
    members = [member("c0", 0, 1), member("c1", 2), member("stranger")]
    target = planned_target(plan_of(c0=(0, 1), c1=(2,), gone=(3,)), members, A)
    assert target[A[3]] == "c1-1"


def test_a_member_outside_the_plan_hands_over_what_the_plan_gives_to_others() -> None:
    members = [member("c0", 0, 1), member("leaver", 2, 3)]
    plan = plan_of(c0=(0, 1, 2, 3))
    first = cooperative_round(planned_target(plan, members, A), members)
    assert first.given == {"c0-1": A[:2], "leaver-1": ()}
    assert first.again
    members = after(first, members)
    assert cooperative_round(planned_target(plan, members, A), members).given == {"c0-1": A, "leaver-1": ()}


def test_the_latest_generation_owns_and_equal_claims_free_the_partition_first() -> None:
    stale, true = member("c0", 0, generation=4), member("c1", 0, generation=5)
    assert holders([stale, true]) == {A[0]: "c1-1"}
    twice = [replace(stale, generation=5), true]
    assert holders(twice) == {A[0]: None}
    assert cooperative_round({A[0]: "c1-1"}, twice).given == {"c0-1": (), "c1-1": ()}


def test_a_topic_without_metadata_takes_nothing_from_anybody() -> None:
    members = [member("c0", 0)]
    assert partitions_of({"a": None, "b": {1, 0}}, members, plan_of(c0=(0, 1))) == (
        Partition("a", 0),
        Partition("a", 1),
        Partition("b", 0),
        Partition("b", 1),
    )
    assert partitions_of({"a": {0}}, members, plan_of(c0=(0, 1))) == (Partition("a", 0),)
