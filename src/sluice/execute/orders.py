"""Commands under one leader's name and term."""

from dataclasses import dataclass

from sluice.execute.roster import Member
from sluice.model import Partition
from sluice.model.commands import Closed, Dismiss, Evict, Lead, Start, Stop


@dataclass(frozen=True, slots=True)
class Orders:
    leader: str
    term: int

    def lead(self) -> Lead:
        return Lead(term=self.term, leader=self.leader)

    def start(
        self, member: Member, partition: Partition, *, epoch: int, offset: int | None, stood_s: float | None
    ) -> Start:
        return Start(
            term=self.term,
            leader=self.leader,
            consumer=member.consumer,
            instance=member.instance,
            partition=partition,
            epoch=epoch,
            offset=offset,
            lease_s=member.lease_s,
            stood_s=stood_s,
        )

    def stop(self, consumer: str, instance: str, partition: Partition, *, epoch: int) -> Stop:
        return Stop(
            term=self.term,
            leader=self.leader,
            consumer=consumer,
            instance=instance,
            partition=partition,
            epoch=epoch,
        )

    def evict(self, consumer: str, instance: str) -> Evict:
        return Evict(term=self.term, leader=self.leader, consumer=consumer, instance=instance)

    def dismiss(self, consumer: str, instance: str) -> Dismiss:
        return Dismiss(term=self.term, leader=self.leader, consumer=consumer, instance=instance)

    def closed(self, consumer: str, instance: str) -> Closed:
        return Closed(term=self.term, leader=self.leader, consumer=consumer, instance=instance)
