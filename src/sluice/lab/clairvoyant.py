"""The least any policy could cost: 100 % inside the objective, knowing every event, changing hands at once and free.

Time is cut into steps; the assignment may change between two steps and never inside one. In a step some partitions may
share a consumer if and only if

1. their events' service adds up to at most the step (nothing piles up for ever), and
2. served in order of arrival from an empty queue, none of them is later than the objective's latency.

Starting each step empty forgives what is left from the step before, so the result is a true lower bound; it is exact
where the bursts end within their step. A partition that fails alone still costs one consumer. Adding events to a queue
never makes another event earlier, so what does not fit a part does not fit the whole: subsets are tried from small to
big and most are never simulated.
"""

from dataclasses import dataclass

import numpy as np

from sluice.model.values import BoolArray, FloatArray, IntArray
from sluice.theory.kernel import compiled

EXACT_PARTITIONS = 12
"""With up to this many busy partitions in a step every subset is looked at; beyond it bounds from both sides are."""
_TOLERANCE_S = 1e-9
_TOO_MANY = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Clairvoyant:
    """The fewest consumers in each step."""

    step_s: float
    consumers: IntArray
    exact: bool
    """False: in some step the best lower bound stands in for the minimum."""

    @property
    def replica_minutes(self) -> float:
        return float(self.consumers.sum()) * self.step_s / 60.0

    @property
    def kind(self) -> str:
        return "exact" if self.exact else "lower bound"


def clairvoyant(
    *,
    time_s: FloatArray,
    partition: IntArray,
    service_s: FloatArray,
    partitions: int,
    duration_s: float,
    latency_s: float,
    step_s: float = 1.0,
) -> Clairvoyant:
    """`time_s` rises; the other two have one entry an event as well."""
    steps = int(np.ceil(duration_s / step_s - _TOLERANCE_S))
    edges = np.searchsorted(time_s, np.arange(steps + 1) * step_s)
    consumers = _small_steps(time_s, partition, service_s, edges, partitions, step_s, latency_s)
    exact = True
    for step in np.flatnonzero(consumers == _TOO_MANY).tolist():
        span = slice(edges[step], edges[step + 1])
        low, high = _bounds(time_s[span], partition[span], service_s[span], step_s, latency_s)
        consumers[step] = low
        exact = exact and low == high
    return Clairvoyant(step_s=step_s, consumers=consumers, exact=exact)


def _bounds(
    time: FloatArray, partition: IntArray, service: FloatArray, step_s: float, latency_s: float
) -> tuple[int, int]:
    """Consumers that are needed in any case, and consumers that suffice."""
    _, item = np.unique(partition, return_inverse=True)
    item = item.astype(np.int64)
    work = np.bincount(item, weights=service).astype(np.float64)
    hopeless = _hopeless(time, item, service, work, step_s, latency_s)
    alone = int(hopeless.sum())
    if alone == len(work):
        return alone, alone
    rest = ~hopeless[item]
    time, service = time[rest], service[rest]
    _, item = np.unique(item[rest], return_inverse=True)
    item, work = item.astype(np.int64), work[~hopeless]
    low = _fluid_bound(time, service, step_s, latency_s, len(work))
    return alone + low, alone + _first_fit(time, item, service, work, np.argsort(-work), step_s, latency_s)


@compiled
def _small_steps(
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
            consumers[step] = _TOO_MANY
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
            if free - time[i] > latency_s + _TOLERANCE_S:
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
        if possible and total[subset] <= step_s + _TOLERANCE_S:
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
def _hopeless(
    time: FloatArray, item: IntArray, service: FloatArray, work: FloatArray, step_s: float, latency_s: float
) -> BoolArray:
    """Partitions that not even a consumer of their own serves in time."""
    found = np.zeros(len(work), dtype=np.bool_)
    wanted = np.zeros(len(work), dtype=np.bool_)
    for b in range(len(work)):
        wanted[b] = True
        found[b] = work[b] > step_s + _TOLERANCE_S or not _in_time(time, item, service, wanted, latency_s)
        wanted[b] = False
    return found


@compiled
def _fluid_bound(time: FloatArray, service: FloatArray, step_s: float, latency_s: float, most: int) -> int:
    """Consumers that are needed however the work is cut: k of them do at most k seconds of work a second."""
    count = max(1, int(np.ceil(service.sum() / step_s - _TOLERANCE_S)))
    while count < most:
        backlog, before, late = 0.0, time[0], False
        for i in range(len(time)):
            backlog = max(0.0, backlog - count * (time[i] - before)) + service[i]
            before = time[i]
            if backlog > count * latency_s + _TOLERANCE_S:
                late = True
                break
        if not late:
            break
        count += 1
    return min(count, most)


@compiled
def _first_fit(
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
            if load[k] + work[b] <= step_s + _TOLERANCE_S:
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
