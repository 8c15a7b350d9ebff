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
from sluice.theory.histogram import bucket_of
from sluice.theory.kernel import compiled

NONE = -1

# Columns of Consumers.counters
PROCESSED, EMITTED, BUSY_S, BUSY_S2, LATENCY_S, GAP_S, GAP_S2 = range(7)
# Entries of Tally.total
EVENTS, LATE, SUM_S, MAX_S = range(4)


class Consumers(NamedTuple):
    """One entry for each consumer that ever was."""

    free_s: FloatArray
    """When it has finished all it has started."""
    batch_start_s: FloatArray
    batch_events: IntArray
    batch: IntArray
    """Number of its latest batch; numbers are unique in the group."""
    last_arrival_s: FloatArray
    head: IntArray
    tail: IntArray
    counters: FloatArray
    """One row each."""


class Partitions(NamedTuple):
    """One entry a partition."""

    owner: IntArray
    readable_s: FloatArray
    """Stands still until then."""
    arrived: IntArray
    arrived_bytes: FloatArray
    processed: IntArray
    batch: IntArray
    """The batch its latest processed events belong to,"""
    batch_events: IntArray
    """how many of them,"""
    batch_owner: IntArray
    """and whose batch it is."""
    head: IntArray
    tail: IntArray


class Pool(NamedTuple):
    """Waiting events, in linked lists; `next` also chains the free places, from `free[0]` on."""

    readable_s: FloatArray
    born_s: FloatArray
    service_s: FloatArray
    partition: IntArray
    number: IntArray
    next: IntArray
    free: IntArray


class Tally(NamedTuple):
    """What came out. `latency_s` (exact) has a place for each event, or none at all: then only the histogram grows."""

    total: FloatArray
    histogram: IntArray
    latency_s: FloatArray
    objective_s: FloatArray
    out_finish_s: FloatArray
    """What a next stage gets to see; empty where there is none."""
    out_born_s: FloatArray
    out_events: IntArray


class Unfinished(NamedTuple):
    """Events of batches in work that end after the instant: started, hence settled, but not to be seen yet."""

    finish_s: FloatArray
    partition: IntArray
    consumer: IntArray
    service_s: FloatArray
    latency_s: FloatArray
    events: IntArray
    """How many places are in use (one entry)."""


class Arriving(NamedTuple):
    """Events in order of arrival. `service_s` with one entry holds for all."""

    time_s: FloatArray
    born_s: FloatArray
    partition: IntArray
    size_bytes: FloatArray
    service_s: FloatArray


@compiled
def serve(
    c: int,
    readable_s: float,
    born_s: float,
    service_s: float,
    p: int,
    number: int,
    until_s: float,
    consumers: Consumers,
    partitions: Partitions,
    unfinished: Unfinished,
    tally: Tally,
) -> None:
    start_s = max(readable_s, consumers.free_s[c])
    finish_s = start_s + service_s
    consumers.free_s[c] = finish_s
    partitions.processed[p] += 1
    if partitions.batch[p] != consumers.batch[c]:
        partitions.batch[p] = consumers.batch[c]
        partitions.batch_owner[p] = c
        partitions.batch_events[p] = 0
    partitions.batch_events[p] += 1
    latency_s = finish_s - born_s
    counters = consumers.counters[c]
    counters[PROCESSED] += 1.0
    counters[BUSY_S] += service_s
    counters[BUSY_S2] += service_s * service_s
    counters[LATENCY_S] += latency_s
    tally.total[EVENTS] += 1.0
    tally.total[SUM_S] += latency_s
    if latency_s > tally.total[MAX_S]:
        tally.total[MAX_S] = latency_s
    # A finish time is a sum of many terms: an event that is due exactly at the limit is not late.
    if latency_s > tally.objective_s[0] + 1e-9:
        tally.total[LATE] += 1.0
    if finish_s > until_s:
        i = unfinished.events[0]
        unfinished.finish_s[i] = finish_s
        unfinished.partition[i] = p
        unfinished.consumer[i] = c
        unfinished.service_s[i] = service_s
        unfinished.latency_s[i] = latency_s
        unfinished.events[0] = i + 1
    if len(tally.latency_s):
        tally.latency_s[number] = latency_s
    else:
        tally.histogram[bucket_of(latency_s)] += 1
    if len(tally.out_finish_s):
        out = tally.out_events[0]
        tally.out_finish_s[out] = finish_s
        tally.out_born_s[out] = born_s
        tally.out_events[0] = out + 1
        counters[EMITTED] += 1.0


@compiled
def forget_finished(now_s: float, unfinished: Unfinished) -> None:
    kept = 0
    for i in range(unfinished.events[0]):
        if unfinished.finish_s[i] > now_s:
            unfinished.finish_s[kept] = unfinished.finish_s[i]
            unfinished.partition[kept] = unfinished.partition[i]
            unfinished.consumer[kept] = unfinished.consumer[i]
            unfinished.service_s[kept] = unfinished.service_s[i]
            unfinished.latency_s[kept] = unfinished.latency_s[i]
            kept += 1
    unfinished.events[0] = kept


@compiled
def _may_start(
    c: int, readable_s: float, until_s: float, max_poll: int, consumers: Consumers, batches: IntArray
) -> bool:
    """Whether the event joins the batch in work, or a new one that starts before `until_s` (which is opened then)."""
    if readable_s <= consumers.batch_start_s[c] and consumers.batch_events[c] < max_poll:
        consumers.batch_events[c] += 1
        return True
    start_s = max(readable_s, consumers.free_s[c])
    if start_s >= until_s:
        return False
    batches[0] += 1
    consumers.batch[c] = batches[0]
    consumers.batch_start_s[c] = start_s
    consumers.batch_events[c] = 1
    return True


@compiled
def push(head: IntArray, tail: IntArray, at: int, slot: int, pool: Pool) -> None:
    pool.next[slot] = NONE
    if head[at] == NONE:
        head[at] = slot
    else:
        pool.next[tail[at]] = slot
    tail[at] = slot


@compiled
def _drain(
    c: int,
    until_s: float,
    max_poll: int,
    consumers: Consumers,
    partitions: Partitions,
    pool: Pool,
    unfinished: Unfinished,
    tally: Tally,
    batches: IntArray,
) -> None:
    slot = consumers.head[c]
    while slot != NONE and _may_start(c, pool.readable_s[slot], until_s, max_poll, consumers, batches):
        serve(
            c,
            pool.readable_s[slot],
            pool.born_s[slot],
            pool.service_s[slot],
            pool.partition[slot],
            pool.number[slot],
            until_s,
            consumers,
            partitions,
            unfinished,
            tally,
        )
        following = pool.next[slot]
        pool.next[slot] = pool.free[0]
        pool.free[0] = slot
        slot = following
    consumers.head[c] = slot


@compiled
def advance(
    until_s: float,
    max_poll: int,
    first_number: int,
    arriving: Arriving,
    consumers: Consumers,
    partitions: Partitions,
    pool: Pool,
    unfinished: Unfinished,
    tally: Tally,
    batches: IntArray,
) -> None:
    """Serve all batches that start before `until_s`.

    `arriving` is what arrives before it, numbered on from `first_number`; the pool has a free place for each event.
    """
    forget_finished(until_s, unfinished)
    for c in range(len(consumers.head)):
        if consumers.head[c] != NONE:
            _drain(c, until_s, max_poll, consumers, partitions, pool, unfinished, tally, batches)
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
        if c != NONE:
            gap_s = time_s - consumers.last_arrival_s[c]
            consumers.last_arrival_s[c] = time_s
            if gap_s == gap_s:  # NaN before the first arrival
                consumers.counters[c, GAP_S] += gap_s
                consumers.counters[c, GAP_S2] += gap_s * gap_s
            if (
                consumers.head[c] == NONE
                and partitions.readable_s[p] <= time_s
                and _may_start(c, time_s, until_s, max_poll, consumers, batches)
            ):
                serve(
                    c,
                    time_s,
                    arriving.born_s[i],
                    service_s,
                    p,
                    first_number + i,
                    until_s,
                    consumers,
                    partitions,
                    unfinished,
                    tally,
                )
                continue
        slot = pool.free[0]
        pool.free[0] = pool.next[slot]
        pool.readable_s[slot] = time_s
        pool.born_s[slot] = arriving.born_s[i]
        pool.service_s[slot] = service_s
        pool.partition[slot] = p
        pool.number[slot] = first_number + i
        if c == NONE or partitions.readable_s[p] > time_s:
            push(partitions.head, partitions.tail, p, slot, pool)
        else:
            push(consumers.head, consumers.tail, c, slot, pool)


@compiled
def stop_reading(stopped: IntArray, consumers: Consumers, partitions: Partitions, pool: Pool) -> None:
    """Move the waiting events of the stopped partitions from the consumers' queues to the partitions."""
    is_stopped = np.zeros(len(partitions.owner), dtype=np.bool_)
    touched = np.zeros(len(consumers.head), dtype=np.bool_)
    for p in stopped:
        is_stopped[p] = True
        if partitions.owner[p] != NONE:
            touched[partitions.owner[p]] = True
    for c in range(len(consumers.head)):
        if not touched[c]:
            continue
        slot = consumers.head[c]
        consumers.head[c] = NONE
        while slot != NONE:
            following = pool.next[slot]
            p = pool.partition[slot]
            if is_stopped[p]:
                push(partitions.head, partitions.tail, p, slot, pool)
            else:
                push(consumers.head, consumers.tail, c, slot, pool)
            slot = following


@compiled
def release(now_s: float, consumers: Consumers, partitions: Partitions, pool: Pool) -> None:
    """Hand the waiting events of each partition that is owned and readable by now to its owner, in order of arrival."""
    waiting = 0
    for p in range(len(partitions.owner)):
        if partitions.owner[p] != NONE and partitions.readable_s[p] <= now_s:
            slot = partitions.head[p]
            while slot != NONE:
                waiting += 1
                slot = pool.next[slot]
    if waiting == 0:
        return
    slots = np.empty(waiting, dtype=np.int64)
    waiting = 0
    for p in range(len(partitions.owner)):
        if partitions.owner[p] != NONE and partitions.readable_s[p] <= now_s:
            slot = partitions.head[p]
            while slot != NONE:
                slots[waiting] = slot
                waiting += 1
                slot = pool.next[slot]
            partitions.head[p] = NONE
    for i in np.argsort(pool.number[slots]):
        slot = slots[i]
        p = pool.partition[slot]
        pool.readable_s[slot] = max(pool.readable_s[slot], partitions.readable_s[p])
        push(consumers.head, consumers.tail, partitions.owner[p], slot, pool)
