"""The same for a group whose members share one subscription: one queue, whoever is free takes the next event.

The queue hangs at the first partition; `servers` lists the members. Each event is acknowledged by itself.
"""

from sluice.model.values import IntArray
from sluice.simulate.kernel import (
    GAP_S,
    GAP_S2,
    NONE,
    Arriving,
    Consumers,
    Partitions,
    Pool,
    Tally,
    Unfinished,
    forget_finished,
    push,
    serve,
)
from sluice.theory.kernel import compiled


@compiled
def _first_free(servers: IntArray, consumers: Consumers) -> int:
    best = int(servers[0])
    for c in servers:
        if consumers.free_s[c] < consumers.free_s[best]:
            best = int(c)
    return best


@compiled
def advance_shared(
    until_s: float,
    servers: IntArray,
    first_number: int,
    arriving: Arriving,
    consumers: Consumers,
    partitions: Partitions,
    pool: Pool,
    unfinished: Unfinished,
    tally: Tally,
    batches: IntArray,
) -> None:
    """Serve all events that start before `until_s`; as `advance` otherwise."""
    forget_finished(until_s, unfinished)
    slot = partitions.head[0]
    while slot != NONE:
        c = _first_free(servers, consumers)
        if max(pool.readable_s[slot], consumers.free_s[c]) >= until_s:
            break
        batches[0] += 1
        consumers.batch[c] = batches[0]
        p = pool.partition[slot]
        serve(
            c,
            pool.readable_s[slot],
            pool.born_s[slot],
            pool.service_s[slot],
            p,
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
    partitions.head[0] = slot
    same_service = len(arriving.service_s) == 1
    for i in range(len(arriving.time_s)):
        time_s = arriving.time_s[i]
        p = arriving.partition[i]
        partitions.arrived[p] += 1
        partitions.arrived_bytes[p] += arriving.size_bytes[i]
        service_s = arriving.service_s[0 if same_service else i]
        c = _first_free(servers, consumers)
        # Every member sees the subscription's arrivals; the first one keeps the record.
        gap_s = time_s - consumers.last_arrival_s[servers[0]]
        for member in servers:
            consumers.last_arrival_s[member] = time_s
            if gap_s == gap_s:
                consumers.counters[member, GAP_S] += gap_s
                consumers.counters[member, GAP_S2] += gap_s * gap_s
        if partitions.head[0] == NONE and max(time_s, consumers.free_s[c]) < until_s:
            batches[0] += 1
            consumers.batch[c] = batches[0]
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
        push(partitions.head, partitions.tail, 0, slot, pool)
