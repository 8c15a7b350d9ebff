"""The steps from one assignment to another: a pure difference, in an order in which no partition ever has two owners.

    start the consumers that are missing → give orphans to consumers that are there → wait until all are ready
    → stop, then start each partition that moves → retire the consumers that are left over

Nobody is stopped before every consumer of the target is ready, so starting one never adds to a pause.
"""

from typing import NamedTuple

from sluice.model import NOBODY, Assignment, Partition
from sluice.model.assignment import fresh_names


class Launch(NamedTuple):
    consumer: str


class Await(NamedTuple):
    """Go on only when all of these are ready."""

    consumers: tuple[str, ...]


class StopReading(NamedTuple):
    partition: Partition
    consumer: str


class StartReading(NamedTuple):
    partition: Partition
    consumer: str


class Retire(NamedTuple):
    consumer: str


Step = Launch | Await | StopReading | StartReading | Retire


def steps(current: Assignment, target: Assignment) -> tuple[Step, ...]:
    """What leads from `current` to `target`; nothing when they are the same."""
    if current.same_as(target):
        return ()
    here, there = set(current.consumers), set(target.consumers)
    moves = current.moves(target)
    orphans = [StartReading(m.partition, m.target) for m in moves if m.source is None and m.target is not None]
    plan: list[Step] = [Launch(name) for name in target.consumers if name not in here]
    plan += [start for start in orphans if start.consumer in here]
    plan.append(Await(target.consumers))
    plan += [start for start in orphans if start.consumer not in here]
    for move in moves:
        if move.source is not None:
            plan.append(StopReading(move.partition, move.source))
            if move.target is not None:
                plan.append(StartReading(move.partition, move.target))
    plan += [Retire(name) for name in current.consumers if name not in there]
    return tuple(plan)


def completed(assignment: Assignment) -> Assignment:
    """The same, with every orphan given to the consumer that has the fewest partitions (the first of equals).

    Which partition is heavy is the policy's business; that each one has an owner is not left to it.
    """
    owned = {name: list(held) for name, held in assignment.owned().items()}
    if not owned:
        owned = {name: [] for name in fresh_names((), 1)}
    for partition, owner in zip(assignment.partitions, assignment.owner.tolist(), strict=True):
        if owner == NOBODY:
            min(owned.values(), key=len).append(partition)
    return Assignment.of(owned, partitions=assignment.partitions)


def without(assignment: Assignment, consumer: str) -> Assignment:
    """The same, with one consumer's partitions given to the others; unchanged when it is the only one."""
    owned = assignment.owned()
    if consumer not in owned or len(owned) == 1:
        return assignment
    rest = {name: held for name, held in owned.items() if name != consumer}
    return completed(Assignment.of(rest, partitions=assignment.partitions))
