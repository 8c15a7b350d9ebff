"""What the leader of a group hands out: the planned owners as far as members allow, at most one owner each round.

Two steps. The *target* says who owns a partition in the end. The *round* is what may be given out now: a cooperative
member goes on with what it owns while it joins, so a partition that somebody else still owns is withheld; its owner
sees it missing, commits and joins again, and the next round gives it away.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sluice.model import Assignment, Partition


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member as it describes itself when it joins."""

    member_id: str
    """Given by the broker, new with every process."""
    name: str
    """Its own stable name: the consumer's name in plans."""
    topics: frozenset[str]
    owned: frozenset[Partition] = frozenset()
    generation: int = -1
    """The generation whose assignment `owned` is; claims of a later one are truer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What every member gets now."""

    given: Mapping[str, tuple[Partition, ...]]
    """Member id → its partitions; every member is named."""
    again: bool
    """True: something was withheld, and another round must follow."""


def partitions_of(
    known: Mapping[str, Collection[int] | None], members: Iterable[Member], plan: Assignment | None
) -> tuple[Partition, ...]:
    """Every partition to be given out, sorted. `known` is the broker's word: topic → partition numbers.

    Of a topic whose numbers have not arrived yet (None), what members own and what the plan names stays in the game:
    otherwise a leader that has just started would take everything away from everybody.
    """
    found = {Partition(topic, number) for topic, numbers in known.items() for number in numbers or ()}
    waiting = {topic for topic, numbers in known.items() if numbers is None}
    if waiting:
        found.update(p for member in members for p in member.owned if p.topic in waiting)
        found.update(p for p in (plan.partitions if plan else ()) if p.topic in waiting)
    return tuple(sorted(found))


def holders(members: Iterable[Member]) -> dict[Partition, str | None]:
    """Who owns a partition now, by the latest claim; None where two members claim it with the same right."""
    holder: dict[Partition, str | None] = {}
    since: dict[Partition, int] = {}
    for member in members:
        for partition in member.owned:
            if partition not in holder or member.generation > since[partition]:
                holder[partition], since[partition] = member.member_id, member.generation
            elif member.generation == since[partition]:
                holder[partition] = None
    return holder


def planned_target(
    plan: Assignment, members: Collection[Member], partitions: Iterable[Partition]
) -> dict[Partition, str]:
    """Partition → member id. Nothing a present member reads is left over.

    A partition whose planned consumer is missing (not there yet, or gone) stays where it is; if its owner is gone too,
    the member of the plan with the fewest partitions takes it. A member the plan does not know gets new partitions
    only when nobody else reads their topic.
    """
    holder = holders(members)
    by_name = _named(plan, members)
    wanted = {partition: name for name, held in plan.owned().items() for partition in held}
    target: dict[Partition, str] = {}
    homeless: list[Partition] = []
    present = {member.member_id: member for member in members}
    count = dict.fromkeys(present, 0)
    for partition in partitions:
        chosen = by_name.get(wanted.get(partition, ""))
        if chosen is None or partition.topic not in chosen.topics:
            chosen = present.get(holder.get(partition) or "")
        if chosen is None or partition.topic not in chosen.topics:
            homeless.append(partition)
            continue
        target[partition] = chosen.member_id
        count[chosen.member_id] += 1
    known = {member.member_id for member in by_name.values()}
    for partition in homeless:
        readers = [member for member in members if partition.topic in member.topics]
        if not readers:
            continue
        taker = min(readers, key=lambda m: (m.member_id not in known, count[m.member_id], m.name, m.member_id))
        target[partition] = taker.member_id
        count[taker.member_id] += 1
    return target


def eager_round(target: Mapping[Partition, str], members: Iterable[Member]) -> Round:
    """Everybody has stopped already: the target is given out at once."""
    return Round(given=_by_member(target.items(), members), again=False)


def cooperative_round(target: Mapping[Partition, str], members: Collection[Member]) -> Round:
    """The target without what another member still owns."""
    holder = holders(members)
    free = [(p, m) for p, m in target.items() if p not in holder or holder[p] == m]
    return Round(given=_by_member(free, members), again=len(free) < len(target))


def _by_member(owners: Iterable[tuple[Partition, str]], members: Iterable[Member]) -> dict[str, tuple[Partition, ...]]:
    given: dict[str, list[Partition]] = {member.member_id: [] for member in members}
    for partition, member_id in owners:
        given[member_id].append(partition)
    return {member_id: tuple(sorted(held)) for member_id, held in given.items()}


def _named(plan: Assignment, members: Iterable[Member]) -> dict[str, Member]:
    """The one member that stands for each consumer of the plan.

    Two members have one name while a process and its successor are both there. The choice must not depend on what
    they own: it would change from round to round, and the rounds would never end.
    """
    chosen: dict[str, Member] = {}
    for member in members:
        rival = chosen.get(member.name)
        if member.name in plan.consumers and (rival is None or member.member_id < rival.member_id):
            chosen[member.name] = member
    return chosen
