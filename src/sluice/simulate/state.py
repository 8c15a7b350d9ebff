"""One group's state, with room made as it is needed. A copy of it can be run on by itself."""

from copy import deepcopy
from typing import NamedTuple

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate import memory as m
from sluice.simulate.kernel import advance, release, stop_reading
from sluice.simulate.kernel_observe import see
from sluice.simulate.kernel_shared import advance_shared
from sluice.simulate.memory import Sizes, allocate, grown
from sluice.theory.histogram import BUCKETS


class Arriving(NamedTuple):
    """Events in order of arrival. `size_bytes` or `service_s` with one entry holds for all."""

    time_s: FloatArray
    born_s: FloatArray
    """When the event, or the one it stems from, entered the system."""
    partition: IntArray
    size_bytes: FloatArray
    service_s: FloatArray

    def cut(self, first: int, last: int) -> "Arriving":
        return Arriving(
            self.time_s[first:last],
            self.born_s[first:last],
            self.partition[first:last],
            self.size_bytes if len(self.size_bytes) == 1 else self.size_bytes[first:last],
            self.service_s if len(self.service_s) == 1 else self.service_s[first:last],
        )


class GroupState:
    """Mutable: the kernel works in place. `copy()` before trying something out."""

    def __init__(
        self,
        partitions: int,
        *,
        objective_s: float,
        max_poll: int,
        whole: bool = True,
        commit_s: float = 0.0,
        exact: bool = True,
        writes: bool = False,
    ) -> None:
        self._sizes = Sizes(0, partitions, 1024, 0)
        self._floats, self._ints, self.group = allocate(self._sizes)
        self.group.total[m.OBJECTIVE_S] = objective_s
        self._max_poll = max_poll
        self._whole = whole
        self._commit_s = commit_s
        self.histogram = None if exact else np.zeros(BUCKETS, dtype=np.int64)
        self._latency_s = np.empty(1024) if exact else None
        self._written = np.empty((3, 1024)) if writes else None
        self.next_number = 0

    def copy(self) -> "GroupState":
        """A state of its own, for a rehearsal."""
        twin = deepcopy(self)
        # The tables must be parts of the copied arrays, not copies of their own.
        twin._resize(self._sizes)
        return twin

    @property
    def latency_s(self) -> FloatArray | None:
        """Every event's latency in order of arrival, once all are served; None where only a histogram is kept."""
        return None if self._latency_s is None else self._latency_s[: self.next_number]

    def advance(self, until_s: float, arriving: Arriving) -> None:
        """Serve on to `until_s`, each consumer its partitions."""
        self._make_room(len(arriving.time_s))
        memory = (self._floats, self._ints, self._latency_s, self.histogram, self._written)
        advance(until_s, self._max_poll, self._whole, self.next_number, *arriving, *memory)
        self.next_number += len(arriving.time_s)

    def advance_shared(self, until_s: float, arriving: Arriving, servers: IntArray) -> None:
        """Serve on to `until_s`, all `servers` from one queue."""
        self._make_room(len(arriving.time_s))
        memory = (self._floats, self._ints, self._latency_s, self.histogram, self._written)
        advance_shared(until_s, self._max_poll, servers, self.next_number, *arriving, *memory)
        self.next_number += len(arriving.time_s)

    def see(self, now_s: float, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """What a monitor may see at `now_s`: rows of offsets, rows of counters of the consumers at `places`."""
        return see(now_s, places, self._max_poll, self._commit_s, self._floats, self._ints)

    def stop(self, partitions: IntArray, readable_s: FloatArray) -> None:
        """From now on these partitions stand still, each until its entry of `readable_s` (one for every partition)."""
        stop_reading(partitions, self._max_poll, self._whole, self._floats, self._ints)
        self.group.partition_floats[m.READABLE_S, partitions] = readable_s[partitions]

    def release(self, now_s: float) -> None:
        """Let go on what is readable by now."""
        release(now_s, self._floats, self._ints)

    def served(self) -> tuple[float, float, float]:
        """(events, late ones, sum of latencies) so far."""
        counters = self.group.consumer_floats.sum(axis=1)
        return float(counters[m.PROCESSED]), float(self.group.total[m.LATE]), float(counters[m.LATENCY_S])

    def take_written(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """(finish, birth, number in order of arrival) of what was served since the last call."""
        assert self._written is not None, "the group writes nothing"
        count = int(self.group.cursor[m.WRITTEN_COUNT])
        self.group.cursor[m.WRITTEN_COUNT] = 0
        finish_s, born_s, number = self._written[:, :count].copy()
        return finish_s, born_s, number.astype(np.int64)

    def add_consumers(self, count: int) -> IntArray:
        """Places for `count` more consumers."""
        first = self._sizes.consumers
        after = first + count
        self._resize(self._sizes._replace(consumers=after, batches=after * self._max_poll))
        return np.arange(first, after)

    def _make_room(self, events: int) -> None:
        """Grow whatever the next `events` arrivals could overflow."""
        needed = int(self.group.cursor[m.WAITING_COUNT]) + events
        if needed > self._sizes.pool:
            self._resize(self._sizes._replace(pool=2 * needed))
        if self._latency_s is not None and self.next_number + events > len(self._latency_s):
            self._latency_s = _wider(self._latency_s, 2 * (self.next_number + events))
        if self._written is not None:
            written = int(self.group.cursor[m.WRITTEN_COUNT]) + needed
            if written > self._written.shape[1]:
                self._written = _wider(self._written, 2 * written)

    def _resize(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._floats, self._ints, self.group = grown(self.group, sizes)


def _wider(table: FloatArray, columns: int) -> FloatArray:
    wide = np.empty((*table.shape[:-1], columns))
    wide[..., : table.shape[-1]] = table
    return wide
