"""The compiled part of the clairvoyant bound: one step's events in, how few consumers out."""

import numpy as np

from sluice.model.values import BoolArray, FloatArray, IntArray
from sluice.theory.kernel import compiled

EXACT_PARTITIONS = 12
"""With up to this many busy partitions in a step every subset is looked at."""
TOO_MANY = 0
TOLERANCE_S = 1e-9


@compiled
def small_steps(
    time_s: FloatArray,
    partition: IntArray,
    service_s: FloatArray,
    edges: IntArray,
    partitions: int,
    step_s: float,
    latency_s: float,
) -> IntArray:
    """The exact minimum in each step whose busy partitions are few enough."""
    steps = len(edges) - 1
    consumers = np.ones(steps, dtype=np.int64)
    local = np.empty(partitions, dtype=np.int64)
    for step in range(steps):
        first, last = edges[step], edges[step + 1]
        if first == last:
            continue
        time, service = time_s[first:last], service_s[first:last]
        busy, item = _renumbered(partition[first:last], local)
        if busy > EXACT_PARTITIONS:
            consumers[step] = TOO_MANY
            continue
        work = np.zeros(busy)
        for i in range(len(item)):
            work[item[i]] += service[i]
        consumers[step] = _fewest(_feasible(time, item, service, work, step_s, latency_s), busy)
    return consumers


@compiled
def _renumbered(partition: IntArray, local: IntArray) -> tuple[int, IntArray]:
    """Partitions that have events in this step, numbered 0, 1, … in order of appearance."""
    local[:] = -1
    item = np.empty(len(partition), dtype=np.int64)
    busy = 0
    for i in range(len(partition)):
        if local[partition[i]] < 0:
            local[partition[i]] = busy
            busy += 1
        item[i] = local[partition[i]]
    return busy, item


@compiled
def _in_time(time: FloatArray, item: IntArray, service: FloatArray, wanted: BoolArray, latency_s: float) -> bool:
    """One queue over the items with `wanted` set: nobody later than the objective."""
    free = -np.inf
    for i in range(len(time)):
        if wanted[item[i]]:
            free = max(free, time[i]) + service[i]
            if free - time[i] > latency_s + TOLERANCE_S:
                return False
    return True


@compiled
def _feasible(
    time: FloatArray, item: IntArray, service: FloatArray, work: FloatArray, step_s: float, latency_s: float
) -> BoolArray:
    """For each subset (as bits) whether one consumer serves it in time."""
    n = len(work)
    fits = np.zeros(1 << n, dtype=np.bool_)
    total = np.zeros(1 << n)
    wanted = np.zeros(n, dtype=np.bool_)
    for subset in range(1, 1 << n):
        possible = True
        for b in range(n):
            bit = 1 << b
            wanted[b] = subset & bit != 0
            if wanted[b]:
                total[subset] = total[subset ^ bit] + work[b]
                possible = possible and (subset == bit or fits[subset ^ bit])
        if possible and total[subset] <= step_s + TOLERANCE_S:
            fits[subset] = _in_time(time, item, service, wanted, latency_s)
    return fits


@compiled
def _fewest(fits: BoolArray, n: int) -> int:
    """The fewest subsets that cover all items, each a single item or one that fits."""
    fewest = np.zeros(1 << n, dtype=np.int64)
    for items in range(1, 1 << n):
        # Some bin holds the lowest item: choose which others go with it.
        low = items & -items
        rest = items ^ low
        best = fewest[rest] + 1
        others = rest
        while others:
            if fits[others | low] and fewest[rest ^ others] + 1 < best:
                best = fewest[rest ^ others] + 1
            others = (others - 1) & rest
        fewest[items] = best
    return int(fewest[-1])


@compiled
def hopeless(
    time: FloatArray, item: IntArray, service: FloatArray, work: FloatArray, step_s: float, latency_s: float
) -> BoolArray:
    """Partitions that not even a consumer of their own serves in time."""
    found = np.zeros(len(work), dtype=np.bool_)
    wanted = np.zeros(len(work), dtype=np.bool_)
    for b in range(len(work)):
        wanted[b] = True
        found[b] = work[b] > step_s + TOLERANCE_S or not _in_time(time, item, service, wanted, latency_s)
        wanted[b] = False
    return found


@compiled
def fluid_bound(time: FloatArray, service: FloatArray, step_s: float, latency_s: float, most: int) -> int:
    """Consumers that are needed however the work is cut: k of them do at most k seconds of work a second."""
    count = max(1, int(np.ceil(service.sum() / step_s - TOLERANCE_S)))
    while count < most:
        backlog, before, late = 0.0, time[0], False
        for i in range(len(time)):
            backlog = max(0.0, backlog - count * (time[i] - before)) + service[i]
            before = time[i]
            if backlog > count * latency_s + TOLERANCE_S:
                late = True
                break
        if not late:
            break
        count += 1
    return min(count, most)


@compiled
def first_fit(
    time: FloatArray,
    item: IntArray,
    service: FloatArray,
    work: FloatArray,
    order: IntArray,
    step_s: float,
    latency_s: float,
) -> int:
    """Consumers that suffice: each partition, in `order`, joins the first consumer that still serves all in time."""
    n = len(work)
    member = np.zeros((n, n), dtype=np.bool_)
    load = np.zeros(n)
    count = 0
    for b in order:
        home = -1
        for k in range(count):
            if load[k] + work[b] <= step_s + TOLERANCE_S:
                member[k, b] = True
                if _in_time(time, item, service, member[k], latency_s):
                    home = k
                    break
                member[k, b] = False
        if home < 0:
            home = count
            member[home, b] = True
            count += 1
        load[home] += work[b]
    return count
