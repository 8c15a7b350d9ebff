"""What can be seen of a group at an instant: only what has happened by then."""

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate import memory as m
from sluice.simulate.memory import NONE, Group, lay_out
from sluice.theory.kernel import compiled, inlined

# Rows of what is seen of the partitions: end offset, committed offset, processed position, bytes written
END, COMMITTED, DONE, BYTES = range(4)


@inlined
def _goes_on(c: int, max_poll: int, group: Group) -> bool:
    """The next event in the consumer's queue belongs to the batch in work."""
    slot = group.consumer_ints[m.HEAD, c]
    if slot == NONE or group.consumer_ints[m.BATCH_EVENTS, c] >= max_poll:
        return False
    return bool(group.pool_floats[m.EVENT_READABLE_S, slot] <= group.consumer_floats[m.BATCH_START_S, c])


@compiled
def see(
    now_s: float, places: IntArray, max_poll: int, commit_s: float, floats: FloatArray, ints: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Offsets of the partitions, and the counters of the consumers at `places`.

    The group has been advanced to `now_s`. A batch in work is committed as a whole when it ends, and not sooner than
    `commit_s` after its beginning, when the one before was.
    """
    group = lay_out(floats, ints)
    cf, ci, pi = group.consumer_floats, group.consumer_ints, group.partition_ints
    count = pi.shape[1]
    seen = np.empty((4, count))
    for p in range(count):
        seen[END, p] = pi[m.ARRIVED, p]
        seen[COMMITTED, p] = seen[DONE, p] = pi[m.ARRIVED, p] - pi[m.WAITING, p]
        seen[BYTES, p] = group.partition_floats[m.ARRIVED_BYTES, p]
    counters = np.empty((m.COUNTERS, len(places)))
    column = np.full(ci.shape[1], NONE)
    for k in range(len(places)):
        column[places[k]] = k
        for row in range(m.COUNTERS):
            counters[row, k] = cf[row, places[k]]
    for c in range(ci.shape[1]):
        ended = cf[m.FREE_S, c] < now_s or (cf[m.FREE_S, c] == now_s and not _goes_on(c, max_poll, group))
        if ended and cf[m.BATCH_START_S, c] + commit_s <= now_s:
            continue
        k = column[c]
        for i in range(c * max_poll, c * max_poll + ci[m.BATCH_EVENTS, c]):
            p = group.batch_ints[m.BATCH_PARTITION, i]
            finish_s = group.batch_floats[m.BATCH_FINISH_S, i]
            if p >= 0:
                seen[COMMITTED, p] -= 1.0
            elif finish_s > now_s:
                seen[COMMITTED, ~p] -= 1.0
            if finish_s > now_s:
                seen[DONE, p if p >= 0 else ~p] -= 1.0
                if k != NONE:
                    service_s = group.batch_floats[m.BATCH_SERVICE_S, i]
                    counters[m.PROCESSED, k] -= 1.0
                    counters[m.BUSY_S, k] -= service_s
                    counters[m.BUSY_S2, k] -= service_s * service_s
                    counters[m.LATENCY_S, k] -= finish_s - group.batch_floats[m.BATCH_BORN_S, i]
    return seen, counters
