"""The compiled heart: serves one group's events up to an instant, from any state.

A consumer is one FIFO server over the events of its partitions, in the order in which they became readable:
start = max(readable, finish of the event before), finish = start + service. It polls: whatever is readable when it is
free, at most `max_poll` events, is one batch; its offsets are committed at its end. `whole`: a batch that has started
is finished, whatever happens to the group; otherwise only the event in work is, and what is taken away of the batch is
committed as far as it is done. Events that cannot start before the instant wait in their consumer's queue; events of a
partition that stands still wait with the partition. Each event is touched once when it arrives, and once more if it had
to wait.

The parts of the loop get plain arrays, not tuples of them: unpacking a tuple counts references, at ten times the cost
of serving an event. For the same reason no tuple comes in from outside.
"""

import numpy as np

from sluice.model.values import FloatArray, IntArray
from sluice.simulate import memory as m
from sluice.simulate.memory import NONE, lay_out
from sluice.theory.histogram import bucket_of
from sluice.theory.kernel import compiled, inlined

# A finish time is a sum of many terms: an event that is due exactly at the limit is not late.
TOLERANCE_S = 1e-9


@inlined
def serve(
    c: int,
    readable_s: float,
    born_s: float,
    service_s: float,
    p: int,
    number: int,
    max_poll: int,
    consumer_floats: FloatArray,
    consumer_ints: IntArray,
    batch_floats: FloatArray,
    batch_ints: IntArray,
    cursor: IntArray,
    latencies_s: FloatArray | None,
    histogram: IntArray | None,
    written: FloatArray | None,
) -> float:
    """Consumer `c` serves an event as the next one of its batch; the event's latency."""
    finish_s = max(readable_s, consumer_floats[m.FREE_S, c]) + service_s
    consumer_floats[m.FREE_S, c] = finish_s
    i = c * max_poll + consumer_ints[m.BATCH_EVENTS, c]
    consumer_ints[m.BATCH_EVENTS, c] += 1
    batch_floats[m.BATCH_FINISH_S, i] = finish_s
    batch_floats[m.BATCH_BORN_S, i] = born_s
    batch_floats[m.BATCH_SERVICE_S, i] = service_s
    batch_ints[m.BATCH_PARTITION, i] = p
    latency_s = float(finish_s - born_s)
    consumer_floats[m.PROCESSED, c] += 1.0
    consumer_floats[m.BUSY_S, c] += service_s
    consumer_floats[m.BUSY_S2, c] += service_s * service_s
    consumer_floats[m.LATENCY_S, c] += latency_s
    if latencies_s is not None:
        latencies_s[number] = latency_s
    if histogram is not None:
        histogram[bucket_of(latency_s)] += 1
    if written is not None:
        i = cursor[m.WRITTEN_COUNT]
        written[m.WRITTEN_FINISH_S, i] = finish_s
        written[m.WRITTEN_BORN_S, i] = born_s
        written[m.WRITTEN_NUMBER, i] = number
        cursor[m.WRITTEN_COUNT] = i + 1
        consumer_floats[m.EMITTED, c] += 1.0
    return latency_s


@inlined
def take_place(
    readable_s: float,
    born_s: float,
    service_s: float,
    p: int,
    number: int,
    pool_floats: FloatArray,
    pool_ints: IntArray,
    partition_ints: IntArray,
    cursor: IntArray,
) -> int:
    """Put an event into a free place of the pool."""
    slot = cursor[m.FREE_PLACE]
    cursor[m.FREE_PLACE] = pool_ints[m.NEXT, slot]
    cursor[m.WAITING_COUNT] += 1
    partition_ints[m.WAITING, p] += 1
    pool_floats[m.EVENT_READABLE_S, slot] = readable_s
    pool_floats[m.EVENT_BORN_S, slot] = born_s
    pool_floats[m.EVENT_SERVICE_S, slot] = service_s
    pool_ints[m.EVENT_PARTITION, slot] = p
    pool_ints[m.EVENT_NUMBER, slot] = number
    return int(slot)


@inlined
def give_back(slot: int, pool_ints: IntArray, partition_ints: IntArray, cursor: IntArray) -> int:
    """Free a place of the pool; the place that followed it in its list."""
    following = pool_ints[m.NEXT, slot]
    pool_ints[m.NEXT, slot] = cursor[m.FREE_PLACE]
    cursor[m.FREE_PLACE] = slot
    cursor[m.WAITING_COUNT] -= 1
    partition_ints[m.WAITING, pool_ints[m.EVENT_PARTITION, slot]] -= 1
    return int(following)


@inlined
def wait(queues: IntArray, at: int, slot: int, pool_ints: IntArray) -> None:
    """Append the event in a place of the pool to the queue of a consumer or of a partition."""
    pool_ints[m.NEXT, slot] = NONE
    if queues[m.HEAD, at] == NONE:
        queues[m.HEAD, at] = slot
    else:
        pool_ints[m.NEXT, queues[m.TAIL, at]] = slot
    queues[m.TAIL, at] = slot


@inlined
def _may_start(
    c: int,
    readable_s: float,
    until_s: float,
    max_poll: int,
    whole: bool,
    consumer_floats: FloatArray,
    consumer_ints: IntArray,
) -> bool:
    """Whether the event joins the batch in work, or a new one that starts before `until_s` (which is opened then)."""
    start_s = max(readable_s, consumer_floats[m.FREE_S, c])
    if readable_s <= consumer_floats[m.BATCH_START_S, c] and consumer_ints[m.BATCH_EVENTS, c] < max_poll:
        return whole or start_s < until_s
    if start_s >= until_s:
        return False
    consumer_ints[m.BATCH_EVENTS, c] = 0
    consumer_floats[m.BATCH_START_S, c] = start_s
    return True


@compiled
def advance(
    until_s: float,
    max_poll: int,
    whole: bool,
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
    """Serve all batches that start before `until_s`.

    The first five arrays are what arrives before it, in order, numbered on from `first_number` (`size_bytes` and
    `services_s` with one entry hold for all); the pool has a free place for each event. Latencies go to `latencies_s`
    by the event's number and to the `histogram`, what the next stage gets to see to `written`: None leaves the code
    for it out, not only the result.
    """
    (cf, pf, qf, bf, total, ci, pi, qi, bi, cursor) = lay_out(floats, ints)
    # Kept out of memory while the loops run: nothing slows an event down more than these two.
    late, worst_s = 0, total[m.MAX_S]
    limit_s = total[m.OBJECTIVE_S] + TOLERANCE_S
    for c in range(ci.shape[1]):
        slot = ci[m.HEAD, c]
        while slot != NONE and _may_start(c, qf[m.EVENT_READABLE_S, slot], until_s, max_poll, whole, cf, ci):
            readable_s, born_s, service_s = qf[0, slot], qf[1, slot], qf[2, slot]
            p, number = qi[m.EVENT_PARTITION, slot], qi[m.EVENT_NUMBER, slot]
            latency_s = serve(
                c, readable_s, born_s, service_s, p, number, max_poll,
                cf, ci, bf, bi, cursor, latencies_s, histogram, written,
            )  # fmt: skip
            late += latency_s > limit_s
            worst_s = max(worst_s, latency_s)
            slot = give_back(slot, qi, pi, cursor)
        ci[m.HEAD, c] = slot
    one_size, one_service = len(size_bytes) == 1, len(services_s) == 1
    size = size_bytes[0] if one_size else 0.0
    service_s = services_s[0] if one_service else 0.0
    for i in range(len(times_s)):
        time_s = times_s[i]
        p = partition[i]
        if not one_size:
            size = size_bytes[i]
        if not one_service:
            service_s = services_s[i]
        pi[m.ARRIVED, p] += 1
        pf[m.ARRIVED_BYTES, p] += size
        c = pi[m.OWNER, p]
        readable = pf[m.READABLE_S, p] <= time_s
        if c != NONE:
            gap_s = time_s - cf[m.LAST_ARRIVAL_S, c]
            cf[m.LAST_ARRIVAL_S, c] = time_s
            if gap_s > 0.0:  # NaN before the first arrival
                cf[m.GAP_S, c] += gap_s
                cf[m.GAP_S2, c] += gap_s * gap_s
            if readable and ci[m.HEAD, c] == NONE and _may_start(c, time_s, until_s, max_poll, whole, cf, ci):
                latency_s = serve(
                    c, time_s, births_s[i], service_s, p, first_number + i, max_poll,
                    cf, ci, bf, bi, cursor, latencies_s, histogram, written,
                )  # fmt: skip
                late += latency_s > limit_s
                worst_s = max(worst_s, latency_s)
                continue
        slot = take_place(time_s, births_s[i], service_s, p, first_number + i, qf, qi, pi, cursor)
        if c == NONE or not readable:
            wait(pi, p, slot, qi)
        else:
            wait(ci, c, slot, qi)
    total[m.LATE] += late
    total[m.MAX_S] = worst_s


@compiled
def stop_reading(stopped: IntArray, max_poll: int, whole: bool, floats: FloatArray, ints: IntArray) -> None:
    """Move the waiting events of the stopped partitions from the consumers' queues to the partitions.

    Unless batches are finished `whole`, what is done of them is committed as soon as the event in work is over.
    """
    group = lay_out(floats, ints)
    ci, pi, qi = group.consumer_ints, group.partition_ints, group.pool_ints
    is_stopped = np.zeros(pi.shape[1], dtype=np.bool_)
    touched = np.zeros(ci.shape[1], dtype=np.bool_)
    for p in stopped:
        is_stopped[p] = True
        if pi[m.OWNER, p] != NONE:
            touched[pi[m.OWNER, p]] = True
    for c in range(len(touched)):
        if not touched[c]:
            continue
        if not whole:
            for i in range(c * max_poll, c * max_poll + ci[m.BATCH_EVENTS, c]):
                p = group.batch_ints[m.BATCH_PARTITION, i]
                if p >= 0 and is_stopped[p]:
                    group.batch_ints[m.BATCH_PARTITION, i] = ~p
        slot = ci[m.HEAD, c]
        ci[m.HEAD, c] = NONE
        while slot != NONE:
            following = qi[m.NEXT, slot]
            p = qi[m.EVENT_PARTITION, slot]
            if is_stopped[p]:
                wait(pi, p, slot, qi)
            else:
                wait(ci, c, slot, qi)
            slot = following


@compiled
def release(now_s: float, floats: FloatArray, ints: IntArray) -> None:
    """Hand the waiting events of each partition that is owned and readable by now to its owner, in order of arrival."""
    group = lay_out(floats, ints)
    ci, pi, qi = group.consumer_ints, group.partition_ints, group.pool_ints
    pf, qf = group.partition_floats, group.pool_floats
    slots = np.empty(group.cursor[m.WAITING_COUNT], dtype=np.int64)
    waiting = 0
    for p in range(pi.shape[1]):
        if pi[m.OWNER, p] != NONE and pf[m.READABLE_S, p] <= now_s:
            slot = pi[m.HEAD, p]
            while slot != NONE:
                slots[waiting] = slot
                waiting += 1
                slot = qi[m.NEXT, slot]
            pi[m.HEAD, p] = NONE
    slots = slots[:waiting]
    for slot in slots[np.argsort(qi[m.EVENT_NUMBER][slots])]:
        p = qi[m.EVENT_PARTITION, slot]
        qf[m.EVENT_READABLE_S, slot] = max(qf[m.EVENT_READABLE_S, slot], pf[m.READABLE_S, p])
        wait(ci, pi[m.OWNER, p], slot, qi)
