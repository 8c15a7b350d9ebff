"""One group's state: two flat arrays with names for their parts.

Handing an array to compiled code costs as much as serving a hundred events. So all state lies in one array of floats
and one of integers, and `lay_out` names their parts: in compiled code for nothing, in Python once after each growth.
"""

from typing import NamedTuple

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.theory.kernel import inlined

NONE = -1

# Columns of Consumers.counters
PROCESSED, EMITTED, BUSY_S, BUSY_S2, LATENCY_S, GAP_S, GAP_S2 = range(7)
COUNTERS = 7
# Entries of Group.total
EVENTS, LATE, SUM_S, MAX_S, OBJECTIVE_S = range(5)
TOTALS = 5
# Entries of Group.cursor: the first free place of the pool, places in use, the last batch's number
FREE, WAITING, UNFINISHED, WRITTEN, BATCHES = range(5)
CURSORS = 5


class Sizes(NamedTuple):
    """How many of each there is room for."""

    consumers: int
    partitions: int
    pool: int
    unfinished: int
    written: int

    @property
    def floats(self) -> int:
        per_consumer = self.consumers * (3 + COUNTERS)
        return per_consumer + 2 * self.partitions + 3 * self.pool + 3 * self.unfinished + 2 * self.written + TOTALS

    @property
    def ints(self) -> int:
        parts = 4 * self.consumers + 8 * self.partitions + 3 * self.pool + 2 * self.unfinished
        return len(self) + parts + CURSORS


class Consumers(NamedTuple):
    """One entry for each consumer that ever was."""

    free_s: FloatArray
    """When it has finished all it has started."""
    batch_start_s: FloatArray
    last_arrival_s: FloatArray
    counters: FloatArray
    """One row each."""
    batch_events: IntArray
    batch: IntArray
    """Number of its latest batch; numbers are unique in the group."""
    head: IntArray
    """Its queue."""
    tail: IntArray


class Partitions(NamedTuple):
    """One entry a partition."""

    readable_s: FloatArray
    """Stands still until then."""
    arrived_bytes: FloatArray
    owner: IntArray
    arrived: IntArray
    processed: IntArray
    batch: IntArray
    """The batch its latest processed events belong to,"""
    batch_events: IntArray
    """how many of them,"""
    batch_owner: IntArray
    """and whose batch it is."""
    head: IntArray
    """What waits for the partition to be readable."""
    tail: IntArray


class Pool(NamedTuple):
    """Waiting events in linked lists; `next` chains the free places too, from the cursor FREE on."""

    readable_s: FloatArray
    born_s: FloatArray
    service_s: FloatArray
    partition: IntArray
    number: IntArray
    next: IntArray


class Unfinished(NamedTuple):
    """Events of batches in work that end after the instant: started, hence settled, but not to be seen yet."""

    finish_s: FloatArray
    service_s: FloatArray
    latency_s: FloatArray
    partition: IntArray
    consumer: IntArray


class Written(NamedTuple):
    """What a next stage gets to see; no room where there is none."""

    finish_s: FloatArray
    born_s: FloatArray


class Group(NamedTuple):
    consumers: Consumers
    partitions: Partitions
    pool: Pool
    unfinished: Unfinished
    written: Written
    total: FloatArray
    cursor: IntArray


@inlined
def lay_out(floats: FloatArray, ints: IntArray) -> Group:
    """The named parts of the two arrays; the integers begin with the sizes."""
    k, n, m, u, w = ints[0], ints[1], ints[2], ints[3], ints[4]
    f = floats
    c = 3 * k
    counters = f[c : c + k * COUNTERS].reshape(k, COUNTERS)
    p = c + k * COUNTERS
    q = p + 2 * n
    v = q + 3 * m
    x = v + 3 * u
    t = x + 2 * w
    i = ints[5:]
    d = 4 * k
    e = d + 8 * n
    g = e + 3 * m
    h = g + 2 * u
    return Group(
        Consumers(f[:k], f[k : 2 * k], f[2 * k : c], counters, i[:k], i[k : 2 * k], i[2 * k : 3 * k], i[3 * k : d]),
        Partitions(
            f[p : p + n],
            f[p + n : q],
            i[d : d + n],
            i[d + n : d + 2 * n],
            i[d + 2 * n : d + 3 * n],
            i[d + 3 * n : d + 4 * n],
            i[d + 4 * n : d + 5 * n],
            i[d + 5 * n : d + 6 * n],
            i[d + 6 * n : d + 7 * n],
            i[d + 7 * n : e],
        ),
        Pool(
            f[q : q + m], f[q + m : q + 2 * m], f[q + 2 * m : v], i[e : e + m], i[e + m : e + 2 * m], i[e + 2 * m : g]
        ),
        Unfinished(f[v : v + u], f[v + u : v + 2 * u], f[v + 2 * u : x], i[g : g + u], i[g + u : h]),
        Written(f[x : x + w], f[x + w : t]),
        f[t : t + TOTALS],
        i[h : h + CURSORS],
    )


def allocate(sizes: Sizes) -> tuple[FloatArray, IntArray, Group]:
    """Fresh memory: no consumer has read anything, every place of the pool is free."""
    floats = np.zeros(sizes.floats)
    ints = np.zeros(sizes.ints, dtype=np.int64)
    ints[: len(sizes)] = sizes
    group = lay_out(floats, ints)
    # Nothing has been polled yet: no event can have been readable before this.
    group.consumers.batch_start_s[:] = -np.inf
    group.consumers.last_arrival_s[:] = np.nan
    for queue in (group.consumers, group.partitions):
        queue.head[:] = NONE
        queue.batch[:] = NONE
    group.partitions.owner[:] = NONE
    group.partitions.batch_owner[:] = NONE
    group.pool.next[:-1] = np.arange(1, sizes.pool)
    group.pool.next[-1] = NONE
    return floats, ints, group


def grown(old: Group, sizes: Sizes) -> tuple[FloatArray, IntArray, Group]:
    """The same state with more room."""
    floats, ints, new = allocate(sizes)
    places = len(old.pool.next)
    for mine, theirs in zip(_parts(new), _parts(old), strict=True):
        mine[: len(theirs)] = theirs
    if len(new.pool.next) > places:
        # The new places come first, the old free ones after them.
        new.pool.next[-1] = old.cursor[FREE]
        new.cursor[FREE] = places
    return floats, ints, new


def _parts(group: Group) -> list[FloatArray | IntArray]:
    named = (group.consumers, group.partitions, group.pool, group.unfinished, group.written)
    return [part for parts in named for part in parts] + [group.total, group.cursor]
