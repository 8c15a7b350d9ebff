"""When events arrive: times in sorted blocks, whose borders depend on nothing but the process."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sluice.errors import InputError
from sluice.model.values import FloatArray, IntArray, Value
from sluice.simulate.rates import Rates

BLOCK_EVENTS = 1 << 16
"""A block holds about this many events: small enough for the cache, large enough to make Python's share vanish."""
BLOCK_STEPS = 256


class Arrivals(Protocol):
    """An arrival process."""

    def blocks(self, seed: int, random: np.random.Generator) -> Iterator[FloatArray]:
        """Sorted arrival times, block after block."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """All events of a step at once, a period apart: a producer that sends a second's events, then sleeps.

    A period a little over the step lets the phase against the controller's clock drift. Without `phase_s` the starting
    phase follows from the seed: six consecutive seeds cover the period evenly, the next six fill the gaps.
    """

    rates: Rates
    period_s: float | None = None
    phase_s: float | None = None

    def blocks(self, seed: int, random: np.random.Generator) -> Iterator[FloatArray]:
        period_s = self.rates.step_s if self.period_s is None else self.period_s
        phase_s = _radical_inverse(seed, 6) * period_s if self.phase_s is None else self.phase_s
        counts = self.rates.counts()
        for first, last in _step_blocks(counts):
            yield np.repeat(phase_s + period_s * np.arange(first, last), counts[first:last])


@dataclass(frozen=True, slots=True, kw_only=True)
class Even:
    """The events of each step at equal distances."""

    rates: Rates

    def blocks(self, seed: int, random: np.random.Generator) -> Iterator[FloatArray]:
        counts = self.rates.counts()
        for first, last in _step_blocks(counts):
            mine = counts[first:last]
            starts = np.repeat(np.cumsum(mine) - mine, mine)
            within = (np.arange(int(mine.sum())) - starts + 0.5) / np.repeat(mine, mine)
            yield self.rates.step_s * (np.repeat(np.arange(first, last), mine) + within)


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisson:
    """Independent events at the rate of each step."""

    rates: Rates

    def blocks(self, seed: int, random: np.random.Generator) -> Iterator[FloatArray]:
        # One long step would be one huge block: cut it so that memory stays constant.
        pieces = max(1, int(np.ceil(float(self.rates.eps.max()) * self.rates.step_s / BLOCK_EVENTS)))
        step_s = self.rates.step_s / pieces
        expected = np.repeat(self.rates.eps * step_s, pieces)
        for first, last in _step_blocks(np.ceil(expected).astype(np.int64)):
            counts = random.poisson(expected[first:last])
            times = step_s * (np.repeat(np.arange(first, last), counts) + random.random(int(counts.sum())))
            times.sort()
            yield times


@dataclass(frozen=True, slots=True, kw_only=True)
class Mmpp:
    """Poisson whose rate jumps between states at random: the state after i is i + 1, dwell times are exponential."""

    states_eps: tuple[float, ...]
    mean_dwell_s: tuple[float, ...]
    duration_s: float

    def __post_init__(self) -> None:
        if not self.states_eps or len(self.states_eps) != len(self.mean_dwell_s):
            raise InputError("mmpp needs as many mean_dwell_s as states_eps, at least one")
        if min(self.states_eps) < 0 or min(self.mean_dwell_s) <= 0:
            raise InputError("mmpp needs states_eps of at least 0 events/s and mean_dwell_s above 0 s")

    def blocks(self, seed: int, random: np.random.Generator) -> Iterator[FloatArray]:
        start_s, state = 0.0, 0
        while start_s < self.duration_s:
            end_s = min(start_s + random.exponential(self.mean_dwell_s[state]), self.duration_s)
            rate_eps = self.states_eps[state]
            while start_s < end_s:
                length_s = min(end_s - start_s, BLOCK_EVENTS / rate_eps if rate_eps else end_s - start_s)
                times = start_s + length_s * random.random(random.poisson(rate_eps * length_s))
                times.sort()
                yield times
                start_s = start_s + length_s if length_s < end_s - start_s else end_s
            state = (state + 1) % len(self.states_eps)


class Recorded(Value, frozen=True, kw_only=True):
    """Events as they were, with their partitions and sizes where those are known. Any order will do."""

    time_s: FloatArray
    partition: IntArray | None = None
    size_bytes: FloatArray | None = None

    def __post_init__(self) -> None:
        if not np.isfinite(self.time_s).all():
            raise InputError("recorded.time_s holds a time that is no finite number")
        for name, column in (("partition", self.partition), ("size_bytes", self.size_bytes)):
            if column is not None and len(column) != len(self.time_s):
                raise InputError(
                    f"recorded.{name} has {len(column)} entries, time_s has {len(self.time_s)}; make them equal"
                )

    def order(self) -> IntArray:
        """Positions in order of time; ties by partition and size, so that the order they came in does not matter."""
        keys = [column for column in (self.size_bytes, self.partition) if column is not None]
        return np.lexsort((*keys, self.time_s))

    def blocks(self, seed: int, random: np.random.Generator) -> Iterator[FloatArray]:
        times = self.time_s[self.order()]
        for first in range(0, len(times), BLOCK_EVENTS):
            yield times[first : first + BLOCK_EVENTS]


def _radical_inverse(number: int, base: int) -> float:
    """The digits of `number` behind the point, in reverse: 0, 1/6, 2/6, … 5/6, 1/36, … for base 6."""
    inverse, scale = 0.0, 1.0 / base
    while number:
        number, digit = divmod(number, base)
        inverse += digit * scale
        scale /= base
    return inverse


def _step_blocks(counts: IntArray) -> Iterator[tuple[int, int]]:
    """Runs of steps with about BLOCK_EVENTS events each."""
    cumulative = np.cumsum(counts)
    first = 0
    while first < len(counts):
        before = int(cumulative[first - 1]) if first else 0
        last = int(np.searchsorted(cumulative, before + BLOCK_EVENTS, side="right"))
        last = min(max(last, first + 1), first + BLOCK_STEPS, len(counts))
        yield first, last
        first = last
