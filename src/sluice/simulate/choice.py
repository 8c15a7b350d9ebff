"""Which partition an event goes to."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sluice.errors import InputError
from sluice.model.values import FloatArray, IntArray


class Chooser(Protocol):
    """Deals events out, batch after batch."""

    def next(self, count: int) -> IntArray: ...


class Choice(Protocol):
    """A rule of partition choice."""

    def chooser(self, partitions: int, random: np.random.Generator) -> Chooser: ...


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """One after the other."""

    def chooser(self, partitions: int, random: np.random.Generator) -> Chooser:
        return _RoundRobinChooser(partitions)


class _RoundRobinChooser:
    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._next = 0
        self._cycle = np.arange(partitions)

    def next(self, count: int) -> IntArray:
        # A repetition of 0 ... n-1 is kept, twice as long as needed: dealing is then a slice, not a division per event.
        if len(self._cycle) < count + self._partitions:
            self._cycle = np.tile(np.arange(self._partitions), 2 * count // self._partitions + 2)
        dealt = self._cycle[self._next : self._next + count]
        self._next = (self._next + count) % self._partitions
        return dealt


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Shares of the load; dealt as evenly as the shares allow (the one furthest behind its share is next)."""

    weights: tuple[float, ...]
    round_up: bool = False
    """Bursts go through `rounded_up` instead of the chooser."""

    def chooser(self, partitions: int, random: np.random.Generator) -> Chooser:
        if len(self.weights) != partitions:
            raise InputError(f"weights has {len(self.weights)} entries for {partitions} partitions; give one each")
        if min(self.weights) < 0 or not sum(self.weights) > 0:
            raise InputError("weights must be at least 0 and not all 0")
        return _PatternChooser(_smooth_pattern(np.array(self.weights) / sum(self.weights)))

    def rounded_up(self, time_s: FloatArray) -> tuple[FloatArray, IntArray]:
        """(times, partitions) of bursts, each partition's share of each burst rounded up: some more events come."""
        moments, counts = np.unique(time_s, return_counts=True)
        shares = np.array(self.weights) / sum(self.weights)
        # The small term keeps whole shares whole in spite of floating point.
        each = np.ceil(counts[:, None] * shares - 1e-9).astype(np.int64)
        partition = np.repeat(np.tile(np.arange(len(shares)), len(moments)), each.ravel())
        return np.repeat(moments, each.sum(axis=1)), partition


class _PatternChooser:
    def __init__(self, pattern: IntArray) -> None:
        self._pattern = pattern
        self._next = 0

    def next(self, count: int) -> IntArray:
        dealt = np.resize(np.roll(self._pattern, -self._next), count)
        self._next = (self._next + count) % len(self._pattern)
        return dealt


def _smooth_pattern(shares: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> IntArray:
    # Event j of a partition with share s is due at (j + 0.5) / s; partitions are served by due time.
    length = 10_000
    counts = np.floor(shares * length).astype(np.int64)
    behind = np.argsort(-(shares * length - counts), kind="stable")
    counts[behind[: length - int(counts.sum())]] += 1
    due = np.concatenate([(np.arange(n) + 0.5) / n for n in counts.tolist() if n])
    partition = np.repeat(np.arange(len(shares)), counts)
    return partition[np.lexsort((partition, due))]


@dataclass(frozen=True, slots=True, kw_only=True)
class ZipfKeys:
    """Keys drawn by Zipf's law, each hashed to one partition for good."""

    keys: int
    exponent: float

    def chooser(self, partitions: int, random: np.random.Generator) -> Chooser:
        if self.keys < 1 or self.exponent < 0:
            raise InputError(
                f"zipf needs keys of at least 1 and an exponent of at least 0, not {self.keys}, {self.exponent}"
            )
        popularity = np.arange(1, self.keys + 1, dtype=np.float64) ** -self.exponent
        home = random.integers(partitions, size=self.keys)
        return _DrawnChooser(np.cumsum(popularity / popularity.sum()), home, random)


class _DrawnChooser:
    def __init__(
        self, cumulative: "np.ndarray[tuple[int], np.dtype[np.float64]]", home: IntArray, random: np.random.Generator
    ) -> None:
        self._cumulative = cumulative
        self._home = home
        self._random = random

    def next(self, count: int) -> IntArray:
        key = np.searchsorted(self._cumulative, self._random.random(count), side="right")
        return self._home[np.minimum(key, len(self._home) - 1)]
