"""Who is in a Kafka consumer group right now and owns what: what an executor checks its own work against."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sluice.model import Assignment, Partition


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """One look at the group."""

    steady: bool
    """False: a rebalance is under way, and nobody shows what it owns."""
    owned: Mapping[str, frozenset[Partition]]

    def stand_as(self, target: Assignment) -> bool:
        """Every consumer of the target is there with its partitions, and nobody else."""
        return self.steady and self.owned == {name: frozenset(held) for name, held in target.owned().items()}

    def share_all(self, target: Assignment) -> bool:
        """The target's consumers are there, and every partition has an owner, whoever it is."""
        held = frozenset().union(*self.owned.values()) if self.owned else frozenset()
        return self.steady and set(self.owned) == set(target.consumers) and held >= set(target.partitions)


class GroupLook:
    """Asks the broker; members are known by their client ids, as our consumers name themselves."""

    def __init__(self, admin: Any, group: str, topics: Iterable[str], *, limit_s: float = 2.0) -> None:
        self._admin = admin
        self._group = group
        self._topics = frozenset(topics)
        self._limit_s = limit_s

    def __call__(self) -> Members | None:
        """None: the broker did not answer."""
        from confluent_kafka import ConsumerGroupState, KafkaException

        asked = self._admin.describe_consumer_groups([self._group], request_timeout=self._limit_s)
        try:
            found = asked[self._group].result(self._limit_s)
        except (KafkaException, TimeoutError):
            return None
        owned = {
            member.client_id: frozenset(
                Partition(p.topic, p.partition)
                for p in (member.assignment.topic_partitions if member.assignment else ())
                if p.topic in self._topics
            )
            for member in found.members
        }
        steady = found.state in (ConsumerGroupState.STABLE, ConsumerGroupState.EMPTY, ConsumerGroupState.DEAD)
        return Members(steady=steady, owned=owned)
