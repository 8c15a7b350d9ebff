"""One group's state: two flat arrays, cut into tables by `lay_out`.

Handing an array to compiled code costs as much as serving a hundred events, so all state lies in one array of floats
and one of integers. Compiled code cuts them into tables for nothing, Python once after each growth. A table has one
row for each quantity named below and one column for each consumer, partition or event.
"""

from typing import NamedTuple

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.theory.kernel import compiled

NONE = -1

# Group.consumer_floats, one column for each consumer that ever was. First what it reports of itself,
PROCESSED, EMITTED, BUSY_S, BUSY_S2, LATENCY_S, GAP_S, GAP_S2 = range(7)
COUNTERS = 7
# then what nobody sees. FREE_S: when all it has started is finished.
FREE_S, BATCH_START_S, LAST_ARRIVAL_S = range(COUNTERS, COUNTERS + 3)
# Group.consumer_ints and partition_ints: HEAD and TAIL of a queue of waiting events.
HEAD, TAIL = range(2)
# Group.consumer_ints: how many events its latest batch has.
BATCH_EVENTS = 2
# Group.partition_ints. WAITING: arrived and not started.
OWNER, ARRIVED, WAITING = range(2, 5)
# Group.partition_floats. READABLE_S: it stands still until then.
READABLE_S, ARRIVED_BYTES = range(2)
# Group.pool_floats and pool_ints: waiting events in linked lists; free places are chained too, from the cursor on.
EVENT_READABLE_S, EVENT_BORN_S, EVENT_SERVICE_S = range(3)
EVENT_PARTITION, EVENT_NUMBER, NEXT = range(3)
# Group.batch_floats and batch_ints: the events of each consumer's latest batch, `max_poll` columns for each consumer.
# Those that finish after the instant the group was advanced to are settled, but not to be seen yet.
BATCH_FINISH_S, BATCH_BORN_S, BATCH_SERVICE_S = range(3)
# BATCH_PARTITION: ~p once partition p was taken away from the batch: it is committed as far as it is done.
BATCH_PARTITION = 0
# What a next stage gets to see of the events served.
WRITTEN_FINISH_S, WRITTEN_BORN_S, WRITTEN_NUMBER = range(3)
# Group.total
LATE, MAX_S, OBJECTIVE_S = range(3)
# Group.cursor
FREE_PLACE, WAITING_COUNT, WRITTEN_COUNT = range(3)

# Rows of the tables of floats and of integers, in the order of Sizes.
_FLOAT_ROWS = (10, 2, 3, 3)
_INT_ROWS = (3, 5, 3, 1)


class Sizes(NamedTuple):
    """How many columns there is room for."""

    consumers: int
    partitions: int
    pool: int
    batches: int


class Group(NamedTuple):
    """The tables."""

    consumer_floats: FloatArray
    partition_floats: FloatArray
    pool_floats: FloatArray
    batch_floats: FloatArray
    total: FloatArray
    consumer_ints: IntArray
    partition_ints: IntArray
    pool_ints: IntArray
    batch_ints: IntArray
    cursor: IntArray


@compiled
def lay_out(floats: FloatArray, ints: IntArray) -> Group:
    """Cut the two arrays; the integers begin with the sizes."""
    k, n, m, b = ints[0], ints[1], ints[2], ints[3]
    f1 = 10 * k
    f2 = f1 + 2 * n
    f3 = f2 + 3 * m
    f4 = f3 + 3 * b
    i1 = 4 + 3 * k
    i2 = i1 + 5 * n
    i3 = i2 + 3 * m
    i4 = i3 + b
    return Group(
        floats[:f1].reshape(10, k),
        floats[f1:f2].reshape(2, n),
        floats[f2:f3].reshape(3, m),
        floats[f3:f4].reshape(3, b),
        floats[f4 : f4 + 3],
        ints[4:i1].reshape(3, k),
        ints[i1:i2].reshape(5, n),
        ints[i2:i3].reshape(3, m),
        ints[i3:i4].reshape(1, b),
        ints[i4 : i4 + 3],
    )


def allocate(sizes: Sizes) -> tuple[FloatArray, IntArray, Group]:
    """Fresh memory: no consumer has read anything, every place of the pool is free."""
    floats = np.zeros(sum(r * c for r, c in zip(_FLOAT_ROWS, sizes, strict=True)) + 3)
    ints = np.zeros(len(sizes) + sum(r * c for r, c in zip(_INT_ROWS, sizes, strict=True)) + 3, dtype=np.int64)
    ints[: len(sizes)] = sizes
    group = lay_out(floats, ints)
    # Nothing has been polled yet: no event can have been readable before this.
    group.consumer_floats[BATCH_START_S] = -np.inf
    group.consumer_floats[LAST_ARRIVAL_S] = np.nan
    group.consumer_ints[HEAD] = NONE
    group.partition_ints[HEAD] = NONE
    group.partition_ints[OWNER] = NONE
    group.pool_ints[NEXT, :-1] = np.arange(1, sizes.pool)
    group.pool_ints[NEXT, -1] = NONE
    return floats, ints, group


def grown(old: Group, sizes: Sizes) -> tuple[FloatArray, IntArray, Group]:
    """The same state with more room."""
    floats, ints, new = allocate(sizes)
    for mine, theirs in zip(new, old, strict=True):
        mine[..., : theirs.shape[-1]] = theirs
    places = old.pool_ints.shape[1]
    if sizes.pool > places:
        # The new places come first, the old free ones after them.
        new.pool_ints[NEXT, -1] = old.cursor[FREE_PLACE]
        new.cursor[FREE_PLACE] = places
    return floats, ints, new
