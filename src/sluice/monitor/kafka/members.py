"""Members of a Kafka consumer group and what they own, as the broker tells it."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sluice.model import Assignment, Partition
from sluice.monitor.kafka.standing import Standing, carried_over

_STEADY = ("Stable", "Empty", "Dead")
# A group that no longer exists is known to be empty; any other complaint means that we do not know.
_NO_SUCH_GROUP = "not found"


def members_standing(
    described: Mapping[str, Any] | None, partitions: tuple[Partition, ...], last: Assignment
) -> Standing:
    """The group as the broker describes it. During a rebalance, and without an answer, the last one known."""
    if described is None or not _is_steady(described):
        # Members show no assignment now; what they had is the best guess until the round is over.
        return Standing(assignment=carried_over(last, partitions), settled=False)
    ours = set(partitions)
    members = described["members"]
    names = _names({member["member_id"]: member["client_id"] for member in members})
    owned: dict[str, list[Partition]] = {name: [] for name in sorted(names.values())}
    taken: set[Partition] = set()
    for member in members:
        for each in (member["member_assignment"] or {}).get("assigned_partitions", ()):
            for number in each["partitions"]:
                partition = Partition(each["topic"], number)
                # A member may read other topics too, and for a moment two members may show the same partition.
                if partition in ours and partition not in taken:
                    taken.add(partition)
                    owned[names[member["member_id"]]].append(partition)
    # Between the two rounds of a cooperative rebalance a partition has no owner.
    settled = not members or len(taken) == len(partitions)
    return Standing(assignment=Assignment.of(owned, partitions=partitions), settled=settled)


def _is_steady(described: Mapping[str, Any]) -> bool:
    problem = described["error"]
    return described["group_state"] in _STEADY and (problem is None or _NO_SUCH_GROUP in problem)


def _names(members: Mapping[str, str]) -> dict[str, str]:
    """Client ids where they tell the members apart (ours do), else member ids."""
    count = Counter(members.values())
    return {member: client if client and count[client] == 1 else member for member, client in members.items()}
