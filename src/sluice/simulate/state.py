"""One group's state as arrays: what the kernel reads and writes. A copy of it can be run on by itself."""

from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate.kernel import GAP_S2, NONE, Arriving, Consumers, Partitions, Pool, Tally, Unfinished, advance
from sluice.theory.histogram import BUCKETS

_COUNTERS = GAP_S2 + 1


@dataclass(slots=True)
class GroupState:
    """Mutable: the kernel works in place. `copy()` before trying something out."""

    consumers: Consumers
    partitions: Partitions
    pool: Pool
    unfinished: Unfinished
    tally: Tally
    batches: IntArray
    max_poll: int
    next_number: int = 0
    exact: bool = True

    @classmethod
    def empty(
        cls, partitions: int, *, objective_s: float, max_poll: int, exact: bool, downstream: bool = False
    ) -> "GroupState":
        return cls(
            consumers=_consumers(0),
            partitions=Partitions(
                owner=np.full(partitions, NONE),
                readable_s=np.zeros(partitions),
                arrived=np.zeros(partitions, dtype=np.int64),
                arrived_bytes=np.zeros(partitions),
                processed=np.zeros(partitions, dtype=np.int64),
                batch=np.full(partitions, NONE),
                batch_events=np.zeros(partitions, dtype=np.int64),
                batch_owner=np.full(partitions, NONE),
                head=np.full(partitions, NONE),
                tail=np.full(partitions, NONE),
            ),
            pool=_pool(1024),
            unfinished=_unfinished(0),
            tally=Tally(
                total=np.zeros(4),
                histogram=np.zeros(0 if exact else BUCKETS, dtype=np.int64),
                latency_s=np.full(1024 if exact else 0, np.nan),
                objective_s=np.array([objective_s]),
                out_finish_s=np.zeros(1024 if downstream else 0),
                out_born_s=np.zeros(1024 if downstream else 0),
                out_events=np.zeros(1, dtype=np.int64),
            ),
            batches=np.zeros(1, dtype=np.int64),
            max_poll=max_poll,
            exact=exact,
        )

    def copy(self) -> "GroupState":
        """A state of its own, for a rehearsal."""
        return deepcopy(self)

    def advance(self, until_s: float, arriving: Arriving) -> None:
        """Serve on to `until_s`."""
        self.make_room(len(arriving.time_s))
        advance(
            until_s,
            self.max_poll,
            self.next_number,
            arriving,
            self.consumers,
            self.partitions,
            self.pool,
            self.unfinished,
            self.tally,
            self.batches,
        )
        self.next_number += len(arriving.time_s)

    def add_consumers(self, count: int) -> IntArray:
        """Places for `count` more consumers."""
        first = len(self.consumers.free_s)
        fresh = _consumers(count)
        self.consumers = Consumers(*(np.concatenate(pair) for pair in zip(self.consumers, fresh, strict=True)))
        # At most one batch of each consumer is in work at any instant.
        larger = _unfinished((first + count) * self.max_poll)
        for mine, theirs in zip(larger, self.unfinished, strict=True):
            mine[: len(theirs)] = theirs
        self.unfinished = larger
        return np.arange(first, first + count)

    @property
    def waiting(self) -> int:
        """Events that have arrived and not been started."""
        return int(self.partitions.arrived.sum() - self.partitions.processed.sum())

    def make_room(self, events: int) -> None:
        """Grow whatever the next `events` arrivals could overflow."""
        needed = self.waiting + events
        if needed > len(self.pool.next):
            self.pool = _grown(self.pool, 2 * needed)
        tally = self.tally
        if self.exact and self.next_number + events > len(tally.latency_s):
            tally = tally._replace(latency_s=_longer(tally.latency_s, 2 * (self.next_number + events), np.nan))
        if len(tally.out_finish_s) and needed > len(tally.out_finish_s):
            tally = tally._replace(out_finish_s=np.zeros(2 * needed), out_born_s=np.zeros(2 * needed))
        self.tally = tally


def _consumers(count: int) -> Consumers:
    return Consumers(
        free_s=np.zeros(count),
        # Nothing has been polled yet: no event can have been readable before this.
        batch_start_s=np.full(count, -np.inf),
        batch_events=np.zeros(count, dtype=np.int64),
        batch=np.full(count, NONE),
        last_arrival_s=np.full(count, np.nan),
        head=np.full(count, NONE),
        tail=np.full(count, NONE),
        counters=np.zeros((count, _COUNTERS)),
    )


def _unfinished(places: int) -> Unfinished:
    return Unfinished(
        finish_s=np.zeros(places),
        partition=np.zeros(places, dtype=np.int64),
        consumer=np.zeros(places, dtype=np.int64),
        service_s=np.zeros(places),
        latency_s=np.zeros(places),
        events=np.zeros(1, dtype=np.int64),
    )


def _pool(places: int) -> Pool:
    chain = np.arange(1, places + 1)
    chain[-1] = NONE
    return Pool(
        readable_s=np.zeros(places),
        born_s=np.zeros(places),
        service_s=np.zeros(places),
        partition=np.zeros(places, dtype=np.int64),
        number=np.zeros(places, dtype=np.int64),
        next=chain,
        free=np.zeros(1, dtype=np.int64),
    )


def _grown(pool: Pool, places: int) -> Pool:
    """The same events in a larger pool; the new places are chained before the old free ones."""
    old = len(pool.next)
    larger = _pool(places)
    for mine, theirs in zip(larger[:-1], pool[:-1], strict=True):
        mine[:old] = theirs
    larger.next[-1] = pool.free[0]
    larger.free[0] = old
    return larger


def _longer(array: FloatArray, length: int, fill: float) -> FloatArray:
    grown = np.full(length, fill)
    grown[: len(array)] = array
    return grown
