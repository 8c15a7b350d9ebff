"""The assignor over kafka-python's own wire types: a whole group without a broker."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.coordinator.assignors.abstract import RebalanceProtocol
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka.structs import TopicPartition

from sluice.model import Assignment, Partition, PublishedPlan
from sluice.sdk.group_assignor import PlannedAssignor, describe
from sluice.sdk.group_connect import forget_claims
from sluice.sdk.group_round import Member, cooperative_round
from sluice.sdk.group_sticky import sticky_target


@dataclass
class Shelf:
    """A plan source the test holds in its hand."""

    plan: PublishedPlan | None = None
    asked: int = 0

    def ask(self, limit_s: float) -> PublishedPlan | None:
        assert limit_s > 0
        self.asked += 1
        return self.plan

    def wait(self, version: int | None) -> PublishedPlan | None:
        assert version is None or version >= 0
        return self.plan

    def publish(self, version: int, **owned: Sequence[int]) -> None:
        target = Assignment.of({name: [Partition("t", n) for n in numbers] for name, numbers in owned.items()})
        self.plan = PublishedPlan(group="g", version=version, time_s=0.0, target=target)


@dataclass
class Topics:
    numbers: dict[str, set[int]]

    def topics(self) -> set[str]:
        return set(self.numbers)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return self.numbers.get(topic)


@dataclass
class Joined:
    """What the broker shows the leader of a member."""

    member_id: str
    metadata: Any
    group_instance_id: None = None


@dataclass
class Group:
    """Members joined in rounds by the rules of the protocol; everything crosses the wire as bytes."""

    shelf: Shelf
    cooperative: bool
    topics: Topics = field(default_factory=lambda: Topics({"t": {0, 1, 2, 3}}))
    members: dict[str, PlannedAssignor] = field(default_factory=dict)
    owned: dict[str, set[int]] = field(default_factory=dict)
    asks_again: set[str] = field(default_factory=set)
    generation: int = 0

    def join(self, name: str) -> None:
        self.owned[name] = set()
        self.members[name] = PlannedAssignor(
            consumer=name,
            source=self.shelf,
            cooperative=self.cooperative,
            ask_limit_s=0.1,
            rejoin=lambda: self.asks_again.add(name),
        )

    def round(self) -> dict[str, set[int]]:
        self.generation += 1
        self.asks_again.clear()
        joined = [
            Joined(f"{n}-id", _wire(a.metadata({"t"}), ConsumerProtocolSubscription)) for n, a in self.members.items()
        ]
        leader = next(iter(self.members.values()))
        for member_id, assignment in leader.assign(self.topics, joined).items():
            name = member_id.removesuffix("-id")
            received = _wire(assignment, ConsumerProtocolAssignment)
            self.members[name].on_assignment(received, self.generation)
            self.owned[name] = {p.partition for p in received.partitions()}
        return self.owned


def _wire(value: Any, kind: Any) -> Any:
    return kind.decode(value.encode())


def test_a_cooperative_move_takes_two_rounds_and_all_members_ask_for_the_second() -> None:
    group = Group(Shelf(), cooperative=True)
    group.shelf.publish(7, a=[0, 1], b=[2, 3])
    group.join("a")
    assert group.round() == {"a": {0, 1, 2, 3}}
    group.join("b")
    assert group.round() == {"a": {0, 1}, "b": set()}
    assert group.asks_again == {"a", "b"}
    assert group.round() == {"a": {0, 1}, "b": {2, 3}}
    assert not group.asks_again
    assert {m.applied_version for m in group.members.values()} == {7}


def test_an_eager_move_takes_one_round() -> None:
    group = Group(Shelf(), cooperative=False)
    group.shelf.publish(1, a=[0], b=[1, 2, 3])
    group.join("a")
    group.join("b")
    assert group.round() == {"a": {0}, "b": {1, 2, 3}}
    group.shelf.publish(2, a=[0, 1], b=[2, 3])
    assert group.round() == {"a": {0, 1}, "b": {2, 3}}
    assert not group.asks_again
    assert group.members["a"].supported_protocols() == [RebalanceProtocol.EAGER]


def test_without_the_controller_the_group_is_balanced_and_stays_balanced() -> None:
    group = Group(Shelf(), cooperative=True)
    for name in "ab":
        group.join(name)
    group.round()
    assert sorted(map(len, group.owned.values())) == [2, 2]
    before = {name: set(held) for name, held in group.owned.items()}
    assert group.round() == before
    assert {m.applied_version for m in group.members.values()} == {None}


def test_only_the_leader_asks_and_once_a_round() -> None:
    group = Group(Shelf(), cooperative=True)
    for name in "abc":
        group.join(name)
    group.round()
    assert group.shelf.asked == 1


def test_a_member_that_was_left_behind_claims_nothing() -> None:
    group = Group(Shelf(), cooperative=True)
    group.join("a")
    group.round()
    left_behind = group.members["a"]
    forget_claims(left_behind)
    described = describe(Joined("a-id", _wire(left_behind.metadata({"t"}), ConsumerProtocolSubscription)))
    assert (described.name, described.owned, described.generation) == ("a", frozenset(), -1)
    own = CooperativeStickyAssignor()
    own.member_assignment = [TopicPartition("t", 0)]
    forget_claims(own)
    assert own.metadata({"t"}).owned_partitions == []


def test_a_member_with_foreign_data_is_taken_by_its_id() -> None:
    for user_data in (None, b"", b"\xff", b"[1]", b"{}"):
        metadata = ConsumerProtocolSubscription(version=1, topics=["t"], user_data=user_data, owned_partitions=[])
        assert describe(Joined("x-1", _wire(metadata, ConsumerProtocolSubscription))).name == "x-1"


@st.composite
def crowds(draw: st.DrawFn) -> list[Member]:
    count = draw(st.integers(1, 5))
    holder = draw(st.lists(st.integers(-1, count - 1), min_size=8, max_size=8))
    return [
        Member(
            member_id=f"m{i}",
            name=f"m{i}",
            topics=frozenset("t"),
            owned=frozenset(Partition("t", n) for n, h in enumerate(holder) if h == i),
            generation=3,
        )
        for i in range(count)
    ]


@settings(max_examples=60)
@given(crowds())
def test_the_fallback_gives_what_kafkas_own_cooperative_sticky_gives(members: list[Member]) -> None:
    partitions = [Partition("t", n) for n in range(8)]
    ours = cooperative_round(sticky_target(members, partitions), members)
    theirs = CooperativeStickyAssignor().assign(Topics({"t": set(range(8))}), [_joined(m) for m in members])
    assert {m: set(held) for m, held in ours.given.items()} == {
        m: {Partition(p.topic, p.partition) for p in _wire(a, ConsumerProtocolAssignment).partitions()}
        for m, a in theirs.items()
    }


def _joined(member: Member) -> Joined:
    return Joined(
        member.member_id,
        _wire(
            ConsumerProtocolSubscription(
                version=2,
                topics=sorted(member.topics),
                user_data=b"",
                owned_partitions=_held(member.owned),
                generation_id=member.generation,
            ),
            ConsumerProtocolSubscription,
        ),
    )


def _held(owned: Iterable[Partition]) -> list[Any]:
    numbers = sorted(p.number for p in owned)
    return [ConsumerProtocolSubscription.TopicPartition(topic="t", partitions=numbers)] if numbers else []
