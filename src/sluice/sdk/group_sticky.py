"""The target without a plan: kafka-python's sticky assignment, balanced by count and with as few moves as it allows."""

from collections.abc import Collection, Iterable

from kafka.coordinator.assignors.sticky.sticky_assignor import StickyAssignmentExecutor, StickyAssignorMemberMetadataV1
from kafka.structs import TopicPartition

from sluice.model import Partition
from sluice.sdk.group_round import Member, holders


class _Topics:
    """The part of the cluster's metadata the algorithm looks at."""

    def __init__(self, partitions: Iterable[Partition]) -> None:
        self._numbers: dict[str, set[int]] = {}
        for topic, number in partitions:
            self._numbers.setdefault(topic, set()).add(number)

    def topics(self) -> set[str]:
        return set(self._numbers)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return self._numbers.get(topic)


def sticky_target(members: Collection[Member], partitions: Iterable[Partition]) -> dict[Partition, str]:
    """Partition → member id."""
    holder = holders(members)
    # Only rightful claims are shown: two members that claim one partition would confuse the algorithm.
    described = {
        m.member_id: StickyAssignorMemberMetadataV1(
            subscription=sorted(m.topics),
            partitions=[TopicPartition(*p) for p in sorted(m.owned) if holder[p] == m.member_id],
            generation=m.generation,
        )
        for m in members
    }
    executor = StickyAssignmentExecutor(_Topics(partitions), described)
    executor.perform_initial_assignment()
    executor.balance()
    return {
        Partition(topic, number): member_id
        for member_id in described
        for topic, numbers in executor.get_final_assignment(member_id)
        for number in numbers
    }
