"""One group's state, with room made as it is needed. A copy of it can be run on by itself."""

from copy import deepcopy

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate.kernel import Arriving, Tally, advance, release, stop_reading
from sluice.simulate.kernel_observe import Seen, see
from sluice.simulate.kernel_shared import advance_shared
from sluice.simulate.memory import OBJECTIVE_S, WAITING, WRITTEN, Sizes, allocate, grown
from sluice.theory.histogram import BUCKETS


class GroupState:
    """Mutable: the kernel works in place. `copy()` before trying something out."""

    def __init__(
        self, partitions: int, *, objective_s: float, max_poll: int, exact: bool = True, writes: bool = False
    ) -> None:
        self._sizes = Sizes(0, partitions, 1024, 0, 1024 if writes else 0)
        self._floats, self._ints, self.group = allocate(self._sizes)
        self.group.total[OBJECTIVE_S] = objective_s
        self._max_poll = max_poll
        self.exact = exact
        self.tally = Tally(np.full(1024 if exact else 0, np.nan), np.zeros(0 if exact else BUCKETS, dtype=np.int64))
        self.next_number = 0

    def copy(self) -> "GroupState":
        """A state of its own, for a rehearsal."""
        twin = deepcopy(self)
        # The names must point into the copied arrays, not into copies of their own.
        twin._resize(self._sizes)
        return twin

    @property
    def latency_s(self) -> FloatArray:
        """Every event's latency in order of arrival; NaN while it waits."""
        return self.tally.latency_s[: self.next_number]

    def advance(self, until_s: float, arriving: Arriving) -> None:
        """Serve on to `until_s`, each consumer its partitions."""
        self._make_room(len(arriving.time_s))
        advance(until_s, self._max_poll, self.next_number, arriving, self._floats, self._ints, self.tally)
        self.next_number += len(arriving.time_s)

    def advance_shared(self, until_s: float, arriving: Arriving, servers: IntArray) -> None:
        """Serve on to `until_s`, all `servers` from one queue."""
        self._make_room(len(arriving.time_s))
        advance_shared(until_s, servers, self.next_number, arriving, self._floats, self._ints, self.tally)
        self.next_number += len(arriving.time_s)

    def see(self, now_s: float, places: IntArray, *, shared: bool) -> Seen:
        """What a monitor may see at `now_s`."""
        return see(now_s, places, shared, self._floats, self._ints)

    def stop(self, partitions: IntArray, readable_s: FloatArray) -> None:
        """From now on these partitions stand still, each until its entry of `readable_s` (one for every partition)."""
        stop_reading(partitions, self._floats, self._ints)
        self.group.partitions.readable_s[partitions] = readable_s[partitions]

    def release(self, now_s: float) -> None:
        """Let go on what is readable by now."""
        release(now_s, self._floats, self._ints)

    def take_written(self) -> tuple[FloatArray, FloatArray]:
        """(finish, birth) of what was served since the last call."""
        count = int(self.group.cursor[WRITTEN])
        self.group.cursor[WRITTEN] = 0
        return self.group.written.finish_s[:count].copy(), self.group.written.born_s[:count].copy()

    def add_consumers(self, count: int) -> IntArray:
        """Places for `count` more consumers."""
        first = self._sizes.consumers
        # At most one batch of each consumer is in work at any instant.
        self._resize(self._sizes._replace(consumers=first + count, unfinished=(first + count) * self._max_poll))
        return np.arange(first, first + count)

    def _make_room(self, events: int) -> None:
        """Grow whatever the next `events` arrivals could overflow."""
        sizes = self._sizes
        needed = int(self.group.cursor[WAITING]) + events
        if needed > sizes.pool or needed > sizes.written > 0:
            self._resize(sizes._replace(pool=2 * needed, written=2 * needed if sizes.written else 0))
        if self.exact and self.next_number + events > len(self.tally.latency_s):
            longer = np.full(2 * (self.next_number + events), np.nan)
            longer[: self.next_number] = self.latency_s
            self.tally = self.tally._replace(latency_s=longer)

    def _resize(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._floats, self._ints, self.group = grown(self.group, sizes)
