"""The same for a group whose members share one subscription: one queue, whoever is free takes the next event.

The queue hangs at the first partition; `servers` lists the members. Each event is acknowledged by itself.
"""

from sluice.model.values import FloatArray, IntArray
from sluice.simulate.kernel import Arriving, Tally, forget_finished, serve, serve_waiting, take_place, wait
from sluice.simulate.memory import BATCHES, GAP_S, GAP_S2, NONE, Group, lay_out
from sluice.theory.kernel import compiled, inlined


@inlined
def _next_free(servers: IntArray, group: Group) -> int:
    best = int(servers[0])
    for c in servers:
        if group.consumers.free_s[c] < group.consumers.free_s[best]:
            best = int(c)
    return best


@inlined
def _open_batch(c: int, group: Group) -> None:
    group.cursor[BATCHES] += 1
    group.consumers.batch[c] = group.cursor[BATCHES]


@compiled
def advance_shared(
    until_s: float,
    servers: IntArray,
    first_number: int,
    arriving: Arriving,
    floats: FloatArray,
    ints: IntArray,
    tally: Tally,
) -> None:
    """Serve all events that start before `until_s`; as `advance` otherwise."""
    group = lay_out(floats, ints)
    consumers, partitions = group.consumers, group.partitions
    forget_finished(until_s, group)
    slot = partitions.head[0]
    while slot != NONE:
        c = _next_free(servers, group)
        if max(group.pool.readable_s[slot], consumers.free_s[c]) >= until_s:
            break
        _open_batch(c, group)
        slot = serve_waiting(c, slot, until_s, group, tally)
    partitions.head[0] = slot
    same_service = len(arriving.service_s) == 1
    for i in range(len(arriving.time_s)):
        time_s = arriving.time_s[i]
        p = arriving.partition[i]
        partitions.arrived[p] += 1
        partitions.arrived_bytes[p] += arriving.size_bytes[i]
        service_s = arriving.service_s[0 if same_service else i]
        # Every member sees the subscription's arrivals.
        gap_s = time_s - consumers.last_arrival_s[servers[0]]
        for member in servers:
            consumers.last_arrival_s[member] = time_s
            if gap_s == gap_s:  # NaN before the first arrival
                consumers.counters[member, GAP_S] += gap_s
                consumers.counters[member, GAP_S2] += gap_s * gap_s
        c = _next_free(servers, group)
        if partitions.head[0] == NONE and max(time_s, consumers.free_s[c]) < until_s:
            _open_batch(c, group)
            serve(c, time_s, arriving.born_s[i], service_s, p, first_number + i, until_s, group, tally)
        else:
            slot = take_place(time_s, arriving.born_s[i], service_s, p, first_number + i, group)
            wait(partitions.head, partitions.tail, 0, slot, group)
