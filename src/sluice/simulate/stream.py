"""The events of one source, taken in order up to any instant."""

import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate.arrivals import Recorded
from sluice.simulate.choice import Weights
from sluice.simulate.spec import Source


class Events(NamedTuple):
    """Arrivals in order of time; partitions count from 0 within the topic; one size may stand for all."""

    time_s: FloatArray
    partition: IntArray
    size_bytes: FloatArray

    def cut(self, first: int, last: int) -> "Events":
        sizes = self.size_bytes if len(self.size_bytes) == 1 else self.size_bytes[first:last]
        return Events(self.time_s[first:last], self.partition[first:last], sizes)

    def every_size_bytes(self) -> FloatArray:
        """The sizes, one for each event."""
        return np.broadcast_to(self.size_bytes, len(self.time_s)) if len(self.size_bytes) == 1 else self.size_bytes


def joined(pieces: Sequence[Events]) -> Events:
    """One after the other."""
    return Events(
        np.concatenate([piece.time_s for piece in pieces]),
        np.concatenate([piece.partition for piece in pieces]),
        np.concatenate([piece.every_size_bytes() for piece in pieces]),
    )


def generator(seed: int, *names: str) -> np.random.Generator:
    """A random stream of its own for each purpose: what one part draws never shifts what another one sees."""
    return np.random.default_rng([seed, *(zlib.crc32(name.encode()) for name in names)])


class EventStream:
    """Deals out a source's events; how they are taken does not change them."""

    def __init__(self, source: Source, seed: int) -> None:
        self._blocks = _blocks(source, seed)
        self._block = Events(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0))
        self._last_s = -np.inf
        self._next = 0
        self.ended = False

    def take(self, until_s: float) -> Events:
        """Everything that arrives before `until_s` and was not taken yet."""
        if self._last_s >= until_s:  # nearly always: the block reaches further
            first = self._next
            self._next = max(first, int(self._block.time_s.searchsorted(until_s)))
            return self._block.cut(first, self._next)
        pieces: list[Events] = []
        while not self.ended:
            times = self._block.time_s
            if self._next < len(times):
                last = len(times) if times[-1] < until_s else int(times.searchsorted(until_s))
                if last > self._next:
                    pieces.append(self._block.cut(self._next, last))
                    self._next = last
                if last < len(times):
                    break
            following = next(self._blocks, None)
            if following is None:
                self.ended = True
            else:
                self._block, self._next = following, 0
                self._last_s = float(following.time_s[-1]) if len(following.time_s) else -np.inf
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return self._block.cut(0, 0)
        return joined(pieces)


def _blocks(source: Source, seed: int) -> Iterator[Events]:
    times = source.arrivals.blocks(seed, generator(seed, "arrivals", source.topic))
    if isinstance(source.arrivals, Recorded):
        yield from _recorded_blocks(source, source.arrivals, times, seed)
        return
    chooser = source.choice.chooser(source.partitions, generator(seed, "choice", source.topic))
    sizes = generator(seed, "sizes", source.topic)
    for block in times:
        if isinstance(source.choice, Weights) and source.choice.round_up:
            block, partition = source.choice.rounded_up(block)
        else:
            partition = chooser.next(len(block))
        yield Events(block, partition, source.sizes.draw(len(block), sizes))


def _recorded_blocks(source: Source, recorded: Recorded, times: Iterator[FloatArray], seed: int) -> Iterator[Events]:
    """What the record does not say is drawn as for any other source."""
    order = recorded.order()
    chooser = source.choice.chooser(source.partitions, generator(seed, "choice", source.topic))
    sizes = generator(seed, "sizes", source.topic)
    first = 0
    for block in times:
        mine = order[first : first + len(block)]
        partition = chooser.next(len(block)) if recorded.partition is None else recorded.partition[mine]
        size = source.sizes.draw(len(block), sizes) if recorded.size_bytes is None else recorded.size_bytes[mine]
        yield Events(block, partition, size)
        first += len(block)
