"""Kafka's own assignors against those of an independent client."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.protocol.consumer.group import JoinGroupResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from sluice.errors import InputError
from sluice.theory.assignors import cooperative_sticky, range_assignor, round_robin

TOPICS = st.lists(st.integers(1, 9), min_size=1, max_size=4)  # so many partitions each
CONSUMERS = st.integers(1, 12)


def topic_numbers(partitions: list[int]) -> list[int]:
    return [topic for topic, count in enumerate(partitions) for _ in range(count)]


class Cluster:
    """What kafka-python's assignors ask of the cluster's metadata."""

    def __init__(self, partitions: list[int]) -> None:
        self._partitions = {f"t{topic}": set(range(count)) for topic, count in enumerate(partitions)}

    def partitions_for_topic(self, topic: str) -> set[int]:
        return self._partitions[topic]

    def topics(self) -> set[str]:
        return set(self._partitions)


def kafka_python(assignor: Any, partitions: list[int], consumers: int, owner: list[int] | None = None) -> list[int]:
    """The owner of each partition by the other client; -1 for what it assigns to nobody in this round."""
    names = [(f"t{topic}", number) for topic, count in enumerate(partitions) for number in range(count)]
    members = []
    for consumer in range(consumers):
        owned = [name for name, c in zip(names, owner or [], strict=False) if c == consumer]
        subscription = ConsumerProtocolSubscription(
            version=1,
            topics=[f"t{topic}" for topic in range(len(partitions))],
            user_data=b"",
            owned_partitions=[
                ConsumerProtocolSubscription.TopicPartition(topic=topic, partitions=[number]) for topic, number in owned
            ],
        )
        members.append(
            JoinGroupResponse.JoinGroupResponseMember(
                member_id=f"c{consumer:02d}", group_instance_id=None, metadata=subscription
            )
        )
    found: dict[tuple[str, int], int] = {}
    for member, assignment in assignor.assign(Cluster(partitions), members).items():
        for given_topic in assignment.assigned_partitions:
            topic, numbers = given_topic
            found.update({(topic, number): int(member[1:]) for number in numbers})
    return [found.get(name, -1) for name in names]


@given(TOPICS, CONSUMERS)
def test_range(partitions: list[int], consumers: int) -> None:
    expected = kafka_python(RangePartitionAssignor, partitions, consumers)
    assert range_assignor(topic_numbers(partitions), consumers).tolist() == expected


@given(TOPICS, CONSUMERS)
def test_round_robin(partitions: list[int], consumers: int) -> None:
    expected = kafka_python(RoundRobinPartitionAssignor, partitions, consumers)
    assert round_robin(topic_numbers(partitions), consumers).tolist() == expected


@given(TOPICS, CONSUMERS, st.data())
def test_cooperative_sticky(partitions: list[int], consumers: int, data: st.DataObject) -> None:
    topics = topic_numbers(partitions)
    owner = data.draw(st.lists(st.integers(-1, 14), min_size=len(topics), max_size=len(topics)))
    mine = cooperative_sticky(topics, consumers, owner)
    held = np.bincount(mine, minlength=consumers)
    assert held.max() - held.min() <= 1
    # Two rounds: what moves is given up in the first one and assigned in the second.
    first = kafka_python(CooperativeStickyAssignor(), partitions, consumers, owner)
    theirs = kafka_python(CooperativeStickyAssignor(), partitions, consumers, first)
    assert sorted(Counter(theirs).values()) == sorted(Counter(mine.tolist()).values())
    kept = sum(a == b for a, b in zip(mine.tolist(), owner, strict=True))
    assert kept >= sum(a == b for a, b in zip(theirs, owner, strict=True))
    assert kept == most_that_can_stay(owner, consumers)
    assert cooperative_sticky(topics, consumers, mine).tolist() == mine.tolist()


def most_that_can_stay(owner: list[int], consumers: int) -> int:
    """In a balanced assignment: each keeps its share, and as many as there are odd ones keep one more."""
    share, odd = divmod(len(owner), consumers)
    held = [owner.count(c) for c in range(consumers)]
    return sum(min(h, share) for h in held) + min(odd, sum(h > share for h in held))


def test_contiguous_runs_put_neighbours_together() -> None:
    assert range_assignor([0] * 5 + [1] * 2, 3).tolist() == [0, 0, 1, 1, 2, 0, 1]
    assert round_robin([0] * 5 + [1] * 2, 3).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert range_assignor([], 3).tolist() == round_robin([], 3).tolist() == cooperative_sticky([], 3, []).tolist() == []


def test_more_consumers_than_partitions() -> None:
    assert range_assignor([0, 0], 5).tolist() == round_robin([0, 0], 5).tolist() == [0, 1]
    assert cooperative_sticky([0, 0], 5, [4, 4]).tolist() == [4, 0]


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="consumers = 0"):
        range_assignor([0], 0)
    with pytest.raises(InputError, match="ascending"):
        round_robin([1, 0], 1)
    with pytest.raises(InputError, match="owner has shape"):
        cooperative_sticky([0, 0], 1, [0])
