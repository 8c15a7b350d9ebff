"""What can be seen of a group at an instant: only what has happened by then."""

from typing import NamedTuple

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate.kernel import BUSY_S, BUSY_S2, LATENCY_S, NONE, PROCESSED, Consumers, Partitions, Unfinished
from sluice.theory.kernel import compiled


class Seen(NamedTuple):
    """Per partition, and the counters with one row a counter and one column a consumer."""

    end: FloatArray
    committed: FloatArray
    processed: FloatArray
    end_bytes: FloatArray
    counters: FloatArray


@compiled
def see(
    now_s: float, places: IntArray, shared: bool, consumers: Consumers, partitions: Partitions, unfinished: Unfinished
) -> Seen:
    """Offsets and counters at `now_s`, to which the group has been advanced; `places` are the consumers wanted.

    A batch is committed as a whole when it ends; in a shared subscription each event is acknowledged by itself.
    """
    count = len(partitions.owner)
    end = np.empty(count)
    committed = np.empty(count)
    processed = np.empty(count)
    end_bytes = np.empty(count)
    for p in range(count):
        end[p] = partitions.arrived[p]
        end_bytes[p] = partitions.arrived_bytes[p]
        processed[p] = partitions.processed[p]
        committed[p] = partitions.processed[p]
        c = partitions.batch_owner[p]
        if not shared and c != NONE and partitions.batch[p] == consumers.batch[c] and consumers.free_s[c] > now_s:
            committed[p] -= partitions.batch_events[p]
    kinds = consumers.counters.shape[1]
    counters = np.empty((kinds, len(places)))
    column = np.full(len(consumers.free_s), NONE)
    for k in range(len(places)):
        column[places[k]] = k
        for kind in range(kinds):
            counters[kind, k] = consumers.counters[places[k], kind]
    for i in range(unfinished.events[0]):
        processed[unfinished.partition[i]] -= 1.0
        if shared:
            committed[unfinished.partition[i]] -= 1.0
        k = column[unfinished.consumer[i]]
        if k != NONE:
            counters[PROCESSED, k] -= 1.0
            counters[BUSY_S, k] -= unfinished.service_s[i]
            counters[BUSY_S2, k] -= unfinished.service_s[i] ** 2
            counters[LATENCY_S, k] -= unfinished.latency_s[i]
    return Seen(end, committed, processed, end_bytes, counters)
