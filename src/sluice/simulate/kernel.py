"""The compiled heart: serves one group's events up to an instant, from any state.

A consumer is one FIFO server over the events of its partitions, in the order in which they became readable:
start = max(readable, finish of the event before), finish = start + service. It polls: whatever is readable when it is
free, at most `max_poll` events, is one batch. A batch that has started is finished, whatever happens to the group; its
offsets are committed at its end. Events that cannot start before the instant wait in their consumer's queue; events of
a partition that stands still wait with the partition. Each event is touched once when it arrives, and once more if it
had to wait.
"""

from typing import NamedTuple

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate.memory import (
    BATCHES,
    BUSY_S,
    BUSY_S2,
    EMITTED,
    EVENTS,
    FREE,
    GAP_S,
    GAP_S2,
    LATE,
    LATENCY_S,
    MAX_S,
    NONE,
    OBJECTIVE_S,
    PROCESSED,
    SUM_S,
    UNFINISHED,
    WAITING,
    WRITTEN,
    Group,
    lay_out,
)
from sluice.theory.histogram import bucket_of
from sluice.theory.kernel import compiled, inlined


class Arriving(NamedTuple):
    """Events in order of arrival. `service_s` with one entry holds for all."""

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
            self.size_bytes[first:last],
            self.service_s if len(self.service_s) == 1 else self.service_s[first:last],
        )


class Tally(NamedTuple):
    """Every event's latency by its number; or, where that has no room at all, a histogram of them."""

    latency_s: FloatArray
    histogram: IntArray


@inlined
def serve(
    c: int,
    readable_s: float,
    born_s: float,
    service_s: float,
    p: int,
    number: int,
    until_s: float,
    group: Group,
    tally: Tally,
) -> None:
    """Consumer `c` serves an event after all it has started before."""
    consumers, partitions = group.consumers, group.partitions
    finish_s = max(readable_s, consumers.free_s[c]) + service_s
    consumers.free_s[c] = finish_s
    partitions.processed[p] += 1
    if partitions.batch[p] != consumers.batch[c]:
        partitions.batch[p] = consumers.batch[c]
        partitions.batch_owner[p] = c
        partitions.batch_events[p] = 0
    partitions.batch_events[p] += 1
    latency_s = finish_s - born_s
    consumers.counters[c, PROCESSED] += 1.0
    consumers.counters[c, BUSY_S] += service_s
    consumers.counters[c, BUSY_S2] += service_s * service_s
    consumers.counters[c, LATENCY_S] += latency_s
    total = group.total
    total[EVENTS] += 1.0
    total[SUM_S] += latency_s
    total[MAX_S] = max(total[MAX_S], latency_s)
    # A finish time is a sum of many terms: an event that is due exactly at the limit is not late.
    if latency_s > total[OBJECTIVE_S] + 1e-9:
        total[LATE] += 1.0
    if finish_s > until_s:
        unfinished = group.unfinished
        i = group.cursor[UNFINISHED]
        unfinished.finish_s[i] = finish_s
        unfinished.service_s[i] = service_s
        unfinished.latency_s[i] = latency_s
        unfinished.partition[i] = p
        unfinished.consumer[i] = c
        group.cursor[UNFINISHED] = i + 1
    if len(tally.latency_s):
        tally.latency_s[number] = latency_s
    else:
        tally.histogram[bucket_of(latency_s)] += 1
    if len(group.written.finish_s):
        i = group.cursor[WRITTEN]
        group.written.finish_s[i] = finish_s
        group.written.born_s[i] = born_s
        group.cursor[WRITTEN] = i + 1
        consumers.counters[c, EMITTED] += 1.0


@inlined
def serve_waiting(c: int, slot: int, until_s: float, group: Group, tally: Tally) -> int:
    """Serve the event in a place of the pool, free the place; the place that followed it."""
    pool, cursor = group.pool, group.cursor
    serve(
        c,
        pool.readable_s[slot],
        pool.born_s[slot],
        pool.service_s[slot],
        pool.partition[slot],
        pool.number[slot],
        until_s,
        group,
        tally,
    )
    following = pool.next[slot]
    pool.next[slot] = cursor[FREE]
    cursor[FREE] = slot
    cursor[WAITING] -= 1
    return int(following)


@inlined
def wait(head: IntArray, tail: IntArray, at: int, slot: int, group: Group) -> None:
    """Append the event in a place of the pool to a list."""
    group.pool.next[slot] = NONE
    if head[at] == NONE:
        head[at] = slot
    else:
        group.pool.next[tail[at]] = slot
    tail[at] = slot


@inlined
def take_place(readable_s: float, born_s: float, service_s: float, p: int, number: int, group: Group) -> int:
    """Put an event into a free place of the pool."""
    pool, cursor = group.pool, group.cursor
    slot = cursor[FREE]
    cursor[FREE] = pool.next[slot]
    cursor[WAITING] += 1
    pool.readable_s[slot] = readable_s
    pool.born_s[slot] = born_s
    pool.service_s[slot] = service_s
    pool.partition[slot] = p
    pool.number[slot] = number
    return int(slot)


@inlined
def forget_finished(now_s: float, group: Group) -> None:
    """Keep only what is still in work at `now_s`."""
    unfinished, cursor = group.unfinished, group.cursor
    kept = 0
    for i in range(cursor[UNFINISHED]):
        if unfinished.finish_s[i] > now_s:
            unfinished.finish_s[kept] = unfinished.finish_s[i]
            unfinished.service_s[kept] = unfinished.service_s[i]
            unfinished.latency_s[kept] = unfinished.latency_s[i]
            unfinished.partition[kept] = unfinished.partition[i]
            unfinished.consumer[kept] = unfinished.consumer[i]
            kept += 1
    cursor[UNFINISHED] = kept


@inlined
def _may_start(c: int, readable_s: float, until_s: float, max_poll: int, group: Group) -> bool:
    """Whether the event joins the batch in work, or a new one that starts before `until_s` (which is opened then)."""
    consumers = group.consumers
    if readable_s <= consumers.batch_start_s[c] and consumers.batch_events[c] < max_poll:
        consumers.batch_events[c] += 1
        return True
    start_s = max(readable_s, consumers.free_s[c])
    if start_s >= until_s:
        return False
    group.cursor[BATCHES] += 1
    consumers.batch[c] = group.cursor[BATCHES]
    consumers.batch_start_s[c] = start_s
    consumers.batch_events[c] = 1
    return True


@compiled
def advance(
    until_s: float,
    max_poll: int,
    first_number: int,
    arriving: Arriving,
    floats: FloatArray,
    ints: IntArray,
    tally: Tally,
) -> None:
    """Serve all batches that start before `until_s`.

    `arriving` is what arrives before it, numbered on from `first_number`; the pool has a free place for each event.
    """
    group = lay_out(floats, ints)
    consumers, partitions = group.consumers, group.partitions
    forget_finished(until_s, group)
    for c in range(len(consumers.head)):
        slot = consumers.head[c]
        while slot != NONE and _may_start(c, group.pool.readable_s[slot], until_s, max_poll, group):
            slot = serve_waiting(c, slot, until_s, group, tally)
        consumers.head[c] = slot
    same_service = len(arriving.service_s) == 1
    service_s = arriving.service_s[0] if same_service else 0.0
    for i in range(len(arriving.time_s)):
        time_s = arriving.time_s[i]
        p = arriving.partition[i]
        partitions.arrived[p] += 1
        partitions.arrived_bytes[p] += arriving.size_bytes[i]
        if not same_service:
            service_s = arriving.service_s[i]
        c = partitions.owner[p]
        readable = partitions.readable_s[p] <= time_s
        if c != NONE:
            gap_s = time_s - consumers.last_arrival_s[c]
            consumers.last_arrival_s[c] = time_s
            if gap_s == gap_s:  # NaN before the first arrival
                consumers.counters[c, GAP_S] += gap_s
                consumers.counters[c, GAP_S2] += gap_s * gap_s
            if readable and consumers.head[c] == NONE and _may_start(c, time_s, until_s, max_poll, group):
                serve(c, time_s, arriving.born_s[i], service_s, p, first_number + i, until_s, group, tally)
                continue
        slot = take_place(time_s, arriving.born_s[i], service_s, p, first_number + i, group)
        if c == NONE or not readable:
            wait(partitions.head, partitions.tail, p, slot, group)
        else:
            wait(consumers.head, consumers.tail, c, slot, group)


@compiled
def stop_reading(stopped: IntArray, floats: FloatArray, ints: IntArray) -> None:
    """Move the waiting events of the stopped partitions from the consumers' queues to the partitions."""
    group = lay_out(floats, ints)
    consumers, partitions, pool = group.consumers, group.partitions, group.pool
    is_stopped = np.zeros(len(partitions.owner), dtype=np.bool_)
    touched = np.zeros(len(consumers.head), dtype=np.bool_)
    for p in stopped:
        is_stopped[p] = True
        if partitions.owner[p] != NONE:
            touched[partitions.owner[p]] = True
    for c in range(len(touched)):
        if not touched[c]:
            continue
        slot = consumers.head[c]
        consumers.head[c] = NONE
        while slot != NONE:
            following = pool.next[slot]
            p = pool.partition[slot]
            if is_stopped[p]:
                wait(partitions.head, partitions.tail, p, slot, group)
            else:
                wait(consumers.head, consumers.tail, c, slot, group)
            slot = following


@compiled
def release(now_s: float, floats: FloatArray, ints: IntArray) -> None:
    """Hand the waiting events of each partition that is owned and readable by now to its owner, in order of arrival."""
    group = lay_out(floats, ints)
    partitions, pool = group.partitions, group.pool
    slots = np.empty(group.cursor[WAITING], dtype=np.int64)
    waiting = 0
    for p in range(len(partitions.owner)):
        if partitions.owner[p] != NONE and partitions.readable_s[p] <= now_s:
            slot = partitions.head[p]
            while slot != NONE:
                slots[waiting] = slot
                waiting += 1
                slot = pool.next[slot]
            partitions.head[p] = NONE
    slots = slots[:waiting]
    for slot in slots[np.argsort(pool.number[slots])]:
        p = pool.partition[slot]
        pool.readable_s[slot] = max(pool.readable_s[slot], partitions.readable_s[p])
        wait(group.consumers.head, group.consumers.tail, partitions.owner[p], slot, group)
