"""Who owns which partition, and what changes from one assignment to the next."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sluice.errors import InputError
from sluice.model.values import BoolArray, FloatArray, IntArray, Value, frozen, ints

NOBODY = -1
# Exact matching costs k³; beyond this many bins the heaviest overlaps are taken first instead.
EXACT_NAMING_LIMIT = 128


class Partition(NamedTuple):
    """One partition of one topic."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"

    @classmethod
    def parse(cls, text: str) -> "Partition":
        topic, dash, number = text.rpartition("-")
        if not dash or not number.isdigit():
            raise InputError(f"partition {text!r} is not TOPIC-NUMBER (example: payments-3)")
        return cls(topic, int(number))


class Move(NamedTuple):
    """A partition that changes hands; None on one side is a first assignment or a departure."""

    partition: Partition
    source: str | None
    target: str | None


class Assignment(Value, frozen=True, kw_only=True):
    """`owner[i]` is the position in `consumers` of the owner of `partitions[i]`, or NOBODY.

    A consumer may own nothing (it is idle, and it costs). In a group whose members share one
    subscription nobody owns a partition; only the count of consumers matters.
    """

    partitions: tuple[Partition, ...]
    consumers: tuple[str, ...]
    owner: IntArray

    @classmethod
    def of(cls, owned: Mapping[str, Iterable[Partition]], *, partitions: Iterable[Partition] = ()) -> "Assignment":
        """From a mapping consumer → partitions; `partitions` names those that nobody owns too."""
        holder: dict[Partition, int] = {}
        for position, (consumer, held) in enumerate(owned.items()):
            for partition in held:
                if partition in holder:
                    raise InputError(f"partition {partition} is owned twice, the second time by {consumer!r}")
                holder[partition] = position
        known = tuple(sorted({*holder, *partitions}))
        return cls(partitions=known, consumers=tuple(owned), owner=ints([holder.get(p, NOBODY) for p in known]))

    @property
    def count(self) -> int:
        return len(self.consumers)

    def owned(self) -> dict[str, tuple[Partition, ...]]:
        """Consumer → its partitions, in the order of `partitions`."""
        held: dict[str, list[Partition]] = {name: [] for name in self.consumers}
        for partition, position in zip(self.partitions, self.owner.tolist(), strict=True):
            if position != NOBODY:
                held[self.consumers[position]].append(partition)
        return {name: tuple(items) for name, items in held.items()}

    def load(self, weight: FloatArray) -> FloatArray:
        """Sum of `weight` (one number a partition) over each consumer's partitions."""
        mine = self.owner >= 0
        owner, held = (self.owner, weight) if mine.all() else (self.owner[mine], weight[mine])
        return np.bincount(owner, weights=held, minlength=self.count).astype(np.float64, copy=False)

    def moved(self, target: "Assignment") -> BoolArray:
        """Partitions with an owner here and another owner in `target`: the ones that migrate."""
        there = self._owner_in_my_numbers(target)
        moved: BoolArray = (self.owner >= 0) & (there != NOBODY) & (self.owner != there)
        return moved

    def moves(self, target: "Assignment") -> tuple[Move, ...]:
        """Every change of hands from here to `target`, first assignments and departures included."""
        there = self._owner_in_my_numbers(target)
        names = (*self.consumers, None)
        names_there = (*target.consumers, None)
        return tuple(
            Move(self.partitions[i], names[self.owner[i]], names_there[target.owner[i]])
            for i in np.flatnonzero(self.owner != there).tolist()
        )

    def same_as(self, target: "Assignment") -> bool:
        """The same consumers own the same partitions, whatever the consumers' order."""
        if self is target:
            return True
        if set(self.consumers) != set(target.consumers):
            return False
        return bool((self.owner == self._owner_in_my_numbers(target)).all())

    def with_bins(self, bins: IntArray, count: int, weight: FloatArray) -> "Assignment":
        """Name `count` anonymous bins after the current consumers so that the most `weight` stays.

        `bins[i]` is the bin of `partitions[i]`. Bins without a counterpart get fresh names.
        """
        kept = name_bins(bins, count, self.owner, self.count, weight)
        fresh = iter(fresh_names(self.consumers, count))
        names = [self.consumers[old] if old != NOBODY else next(fresh) for old in kept]
        return self._in_order_of_names(names, bins)

    def with_owners(self, owner: IntArray) -> "Assignment":
        """`owner` uses my consumers' numbers; numbers past them are fresh consumers, unused ones leave."""
        used = np.unique(owner[owner >= 0])
        extra = int(used[-1]) - self.count + 1 if len(used) else 0
        names = (*self.consumers, *fresh_names(self.consumers, max(extra, 0)))
        position = np.full(len(names) + 1, NOBODY, dtype=np.int64)
        position[used] = np.arange(len(used))
        return Assignment(
            partitions=self.partitions,
            consumers=tuple(names[i] for i in used.tolist()),
            owner=frozen(position[owner]),
        )

    def _in_order_of_names(self, names: Sequence[str], bins: IntArray) -> "Assignment":
        # Survivors keep their order, newcomers follow: the result does not depend on bin numbers.
        rank = {name: i for i, name in enumerate(self.consumers)}
        order = sorted(range(len(names)), key=lambda b: rank.get(names[b], len(rank) + b))
        position = np.full(len(names) + 1, NOBODY, dtype=np.int64)
        position[order] = np.arange(len(order))
        return Assignment(
            partitions=self.partitions,
            consumers=tuple(names[b] for b in order),
            owner=frozen(position[bins]),
        )

    def _owner_in_my_numbers(self, target: "Assignment") -> IntArray:
        if self.partitions is not target.partitions and self.partitions != target.partitions:
            raise InputError("the two assignments speak of different partitions; compare assignments of one topic set")
        if self.consumers == target.consumers:
            return target.owner
        mine = {name: i for i, name in enumerate(self.consumers)}
        strangers = len(mine)
        number = [mine.get(name, strangers + i) for i, name in enumerate(target.consumers)]
        return np.array([*number, NOBODY], dtype=np.int64)[target.owner]


def fresh_names(taken: Iterable[str], count: int) -> tuple[str, ...]:
    """`count` names c0, c1, … that nobody has yet, lowest numbers first."""
    used = set(taken)
    names: list[str] = []
    number = 0
    while len(names) < count:
        if (name := f"c{number}") not in used:
            names.append(name)
        number += 1
    return tuple(names)


def name_bins(bins: IntArray, count: int, owner: IntArray, consumers: int, weight: FloatArray) -> list[int]:
    """For each bin the old consumer whose partitions it keeps most of, by `weight`; NOBODY where none is left.

    A partition without load counts a little, so that idle partitions stay put as well.
    """
    both = (bins >= 0) & (owner >= 0)
    known = np.where(np.isfinite(weight), np.maximum(weight, 0.0), 0.0)
    worth = known + (float(known.max(initial=0.0)) or 1.0) * 1e-9
    pairs, inverse = np.unique(bins[both] * consumers + owner[both], return_inverse=True)
    overlap = np.bincount(inverse, weights=worth[both], minlength=len(pairs))
    kept = [NOBODY] * count
    if count <= EXACT_NAMING_LIMIT and consumers <= EXACT_NAMING_LIMIT:
        from scipy.optimize import linear_sum_assignment  # heavy to import, needed on an action only

        matrix = np.zeros((count, consumers))
        matrix[pairs // max(consumers, 1), pairs % max(consumers, 1)] = overlap
        for b, old in zip(*linear_sum_assignment(matrix, maximize=True), strict=True):
            kept[int(b)] = int(old)
        return kept
    free = set(range(consumers))
    for i in np.lexsort((pairs, -overlap)).tolist():
        bin_number, consumer = divmod(int(pairs[i]), consumers)
        if kept[bin_number] == NOBODY and consumer in free:
            kept[bin_number] = consumer
            free.remove(consumer)
    rest = iter(sorted(free))
    return [old if old != NOBODY else next(rest, NOBODY) for old in kept]
