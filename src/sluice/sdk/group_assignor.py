"""The assignor kafka-python runs: what a member says of itself when it joins, and what the leader answers."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, RebalanceProtocol
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

from sluice.model import Partition
from sluice.sdk.group_round import (
    Member,
    Round,
    cooperative_round,
    eager_round,
    partitions_of,
    planned_target,
)
from sluice.sdk.group_source import PlanSource
from sluice.sdk.group_sticky import sticky_target

# The first wire version that carries the generation beside the owned partitions.
SUBSCRIPTION_VERSION = 2
NEVER = -1

_log = logging.getLogger("sluice.group")


class Cluster(Protocol):
    """kafka-python's metadata, as far as it is used."""

    def partitions_for_topic(self, topic: str) -> set[int] | None: ...


class PlannedAssignor:
    """Gives out the controller's plan; without the controller, a sticky assignment.

    One object for each consumer. Members that differ in `cooperative` do not find a common assignor, and the broker
    refuses the second kind: one group, one protocol.
    """

    def __init__(
        self, *, consumer: str, source: PlanSource, cooperative: bool, ask_limit_s: float, rejoin: Callable[[], None]
    ) -> None:
        self.name = "sluice-cooperative" if cooperative else "sluice-eager"
        self._consumer = consumer
        self._source = source
        self._cooperative = cooperative
        self._ask_limit_s = ask_limit_s
        self._rejoin = rejoin
        self._owned: frozenset[Partition] = frozenset()
        self._generation = NEVER
        self.applied_version: int | None = None
        """Of the plan behind the assignment in force; None when it was made without one."""

    def supported_protocols(self) -> list[Any]:
        return [RebalanceProtocol.COOPERATIVE if self._cooperative else RebalanceProtocol.EAGER]

    def metadata(self, topics: Iterable[str]) -> Any:
        held = [
            ConsumerProtocolSubscription.TopicPartition(topic=topic, partitions=numbers)
            for topic, numbers in _by_topic(self._owned).items()
        ]
        return ConsumerProtocolSubscription(
            version=SUBSCRIPTION_VERSION,
            topics=sorted(topics),
            user_data=json.dumps({"name": self._consumer}).encode(),
            owned_partitions=held,
            generation_id=self._generation,
        )

    def assign(self, cluster: Cluster, members: Iterable[Any]) -> dict[str, Any]:
        """Called on the leader only, by the thread that also fetches: it must answer within the limit."""
        described = [describe(member) for member in members]
        plan = self._source.ask(self._ask_limit_s)
        known = {t: cluster.partitions_for_topic(t) for t in sorted({t for m in described for t in m.topics})}
        partitions = partitions_of(known, described, plan.target if plan else None)
        if plan is None:
            _log.warning("no plan from the controller within %s s: falling back to sticky", self._ask_limit_s)
            target = sticky_target(described, partitions)
        else:
            target = planned_target(plan.target, described, partitions)
        give = cooperative_round if self._cooperative else eager_round
        return encode_round(give(target, described), version=plan.version if plan else None)

    def on_assignment(self, assignment: Any, generation: int) -> None:
        self._owned = frozenset(Partition(p.topic, p.partition) for p in assignment.partitions())
        self._generation = generation
        said = _read(assignment.user_data)
        self.applied_version = said.get("plan")
        if said.get("again"):
            # Without this the others would hear of the second round with their next heartbeat only.
            self._rejoin()

    def forget(self) -> None:
        """The group has gone on without this member: it owns nothing any more."""
        self._owned = frozenset()
        self._generation = NEVER


# kafka-python asks `isinstance`; its classes carry no types, so ours is registered instead of derived.
AbstractPartitionAssignor.register(PlannedAssignor)


def describe(member: Any) -> Member:
    """A member of kafka-python's JoinGroup response in our words."""
    metadata = member.metadata
    return Member(
        member_id=member.member_id,
        name=str(_read(metadata.user_data).get("name", member.member_id)),
        topics=frozenset(metadata.topics),
        owned=frozenset(Partition(h.topic, n) for h in metadata.owned_partitions or () for n in h.partitions),
        generation=metadata.generation_id,
    )


def encode_round(round_: Round, *, version: int | None) -> dict[str, Any]:
    user_data = json.dumps({"plan": version, "again": round_.again}).encode()
    return {
        member_id: ConsumerProtocolAssignment(0, list(_by_topic(held).items()), user_data)
        for member_id, held in round_.given.items()
    }


def _by_topic(partitions: Iterable[Partition]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        numbers.setdefault(topic, []).append(number)
    return numbers


def _read(user_data: bytes | None) -> Mapping[str, Any]:
    """Nothing when it is not ours."""
    try:
        data = json.loads(bytes(user_data or b"{}"))
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
