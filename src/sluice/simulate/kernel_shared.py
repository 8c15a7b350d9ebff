"""The same for a group whose members share one subscription: one queue, whoever is free takes the next event.

The queue hangs at the first partition; `servers` lists the members. Each event is a batch of its own.
"""

from sluice.model.values import FloatArray, IntArray
from sluice.simulate import memory as m
from sluice.simulate.kernel import TOLERANCE_S, give_back, serve, take_place, wait
from sluice.simulate.memory import NONE, lay_out
from sluice.theory.kernel import compiled, inlined


@inlined
def _next_free(servers: IntArray, consumer_floats: FloatArray) -> int:
    best = int(servers[0])
    for c in servers:
        if consumer_floats[m.FREE_S, c] < consumer_floats[m.FREE_S, best]:
            best = int(c)
    return best


@inlined
def _count_gap(c: int, arrived_s: float, servers: IntArray, consumer_floats: FloatArray) -> None:
    """The gap before an event counts with who serves it: gaps and events of a member then tell its variability.

    One line, first come, first served: the event served before is the one that arrived before.
    """
    gap_s = arrived_s - consumer_floats[m.LAST_ARRIVAL_S, servers[0]]
    for member in servers:
        consumer_floats[m.LAST_ARRIVAL_S, member] = arrived_s
    if gap_s > 0.0:  # NaN before the first arrival
        consumer_floats[m.GAP_S, c] += gap_s
        consumer_floats[m.GAP_S2, c] += gap_s * gap_s


@compiled
def advance_shared(
    until_s: float,
    max_poll: int,
    servers: IntArray,
    first_number: int,
    times_s: FloatArray,
    births_s: FloatArray,
    partition: IntArray,
    size_bytes: FloatArray,
    services_s: FloatArray,
    floats: FloatArray,
    ints: IntArray,
    latencies_s: FloatArray | None,
    histogram: IntArray | None,
    written: FloatArray | None,
) -> None:
    """Serve all events that start before `until_s`; as `advance` otherwise."""
    (cf, pf, qf, bf, total, ci, pi, qi, bi, cursor) = lay_out(floats, ints)
    late, worst_s = 0, total[m.MAX_S]
    limit_s = total[m.OBJECTIVE_S] + TOLERANCE_S
    slot = pi[m.HEAD, 0]
    while slot != NONE:
        c = _next_free(servers, cf)
        readable_s, born_s, service_s = qf[0, slot], qf[1, slot], qf[2, slot]
        if max(readable_s, cf[m.FREE_S, c]) >= until_s:
            break
        ci[m.BATCH_EVENTS, c] = 0
        _count_gap(c, readable_s, servers, cf)
        p, number = qi[m.EVENT_PARTITION, slot], qi[m.EVENT_NUMBER, slot]
        latency_s = serve(
            c, readable_s, born_s, service_s, p, number, max_poll,
            cf, ci, bf, bi, cursor, latencies_s, histogram, written,
        )  # fmt: skip
        late += latency_s > limit_s
        worst_s = max(worst_s, latency_s)
        slot = give_back(slot, qi, pi, cursor)
    pi[m.HEAD, 0] = slot
    one_size, one_service = len(size_bytes) == 1, len(services_s) == 1
    for i in range(len(times_s)):
        time_s = times_s[i]
        p = partition[i]
        service_s = services_s[0 if one_service else i]
        pi[m.ARRIVED, p] += 1
        pf[m.ARRIVED_BYTES, p] += size_bytes[0 if one_size else i]
        c = _next_free(servers, cf)
        if pi[m.HEAD, 0] == NONE and max(time_s, cf[m.FREE_S, c]) < until_s:
            ci[m.BATCH_EVENTS, c] = 0
            _count_gap(c, time_s, servers, cf)
            latency_s = serve(
                c, time_s, births_s[i], service_s, p, first_number + i, max_poll,
                cf, ci, bf, bi, cursor, latencies_s, histogram, written,
            )  # fmt: skip
            late += latency_s > limit_s
            worst_s = max(worst_s, latency_s)
        else:
            slot = take_place(time_s, births_s[i], service_s, p, first_number + i, qf, qi, pi, cursor)
            wait(pi, 0, slot, qi)
    total[m.LATE] += late
    total[m.MAX_S] = worst_s
