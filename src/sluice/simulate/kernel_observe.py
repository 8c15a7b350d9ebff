"""What can be seen of a group at an instant: only what has happened by then."""

from typing import NamedTuple

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate.memory import BUSY_S, BUSY_S2, COUNTERS, LATENCY_S, NONE, PROCESSED, UNFINISHED, lay_out
from sluice.theory.kernel import compiled


class Seen(NamedTuple):
    """One row each for end offsets, committed offsets, processed positions and bytes written; one row a counter."""

    partitions: FloatArray
    consumers: FloatArray


@compiled
def see(now_s: float, places: IntArray, shared: bool, floats: FloatArray, ints: IntArray) -> Seen:
    """Offsets and counters at `now_s`, to which the group has been advanced; `places` are the consumers wanted.

    A batch is committed as a whole when it ends; in a shared subscription each event is acknowledged by itself.
    """
    group = lay_out(floats, ints)
    consumers, partitions, unfinished = group.consumers, group.partitions, group.unfinished
    count = len(partitions.owner)
    seen = np.empty((4, count))
    end, committed, processed, end_bytes = seen[0], seen[1], seen[2], seen[3]
    for p in range(count):
        end[p] = partitions.arrived[p]
        committed[p] = partitions.processed[p]
        processed[p] = partitions.processed[p]
        end_bytes[p] = partitions.arrived_bytes[p]
        c = partitions.batch_owner[p]
        if not shared and c != NONE and partitions.batch[p] == consumers.batch[c] and consumers.free_s[c] > now_s:
            committed[p] -= partitions.batch_events[p]
    counters = np.empty((COUNTERS, len(places)))
    column = np.full(len(consumers.free_s), NONE)
    for k in range(len(places)):
        column[places[k]] = k
        for kind in range(COUNTERS):
            counters[kind, k] = consumers.counters[places[k], kind]
    for i in range(group.cursor[UNFINISHED]):
        processed[unfinished.partition[i]] -= 1.0
        if shared:
            committed[unfinished.partition[i]] -= 1.0
        k = column[unfinished.consumer[i]]
        if k != NONE:
            counters[PROCESSED, k] -= 1.0
            counters[BUSY_S, k] -= unfinished.service_s[i]
            counters[BUSY_S2, k] -= unfinished.service_s[i] ** 2
            counters[LATENCY_S, k] -= unfinished.latency_s[i]
    return Seen(seen, counters)
