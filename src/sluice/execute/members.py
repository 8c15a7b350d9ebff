"""Who is in a Kafka consumer group right now and owns what: what an executor checks its own work against."""

from collections.abc import Mapping
from dataclasses import dataclass

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
