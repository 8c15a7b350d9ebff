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

from sluice.errors import InputError
from sluice.lab.clairvoyant_kernel import TOLERANCE_S, TOO_MANY, first_fit, fluid_bound, hopeless, small_steps
from sluice.model.values import FloatArray, IntArray
from sluice.theory.packing import exact_packing, lower_bound

SOLVED_PARTITIONS = 30
"""Bursts on up to this many partitions are packed by a solver where bounds from both sides do not meet."""
SOLVER_LIMIT_S = 5.0


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
    steps = int(np.ceil(duration_s / step_s - TOLERANCE_S))
    edges = np.searchsorted(time_s, np.arange(steps + 1) * step_s)
    consumers = small_steps(time_s, partition, service_s, edges, partitions, step_s, latency_s)
    exact = True
    for step in np.flatnonzero(consumers == TOO_MANY).tolist():
        span = slice(edges[step], edges[step + 1])
        low, high = _bounds(time_s[span], partition[span], service_s[span], step_s, latency_s)
        consumers[step] = low
        exact = exact and low == high
    return Clairvoyant(step_s=step_s, consumers=consumers, exact=exact)


def _bounds(
    time: FloatArray, partition: IntArray, service: FloatArray, step_s: float, latency_s: float
) -> tuple[int, int]:
    """Consumers that are needed in any case, and consumers that suffice, in one step."""
    _, item = np.unique(partition, return_inverse=True)
    item = item.astype(np.int64)
    work = np.bincount(item, weights=service).astype(np.float64)
    lost = hopeless(time, item, service, work, step_s, latency_s)
    alone = int(lost.sum())
    if alone == len(work):
        return alone, alone
    rest = ~lost[item]
    time, service = time[rest], service[rest]
    _, item = np.unique(item[rest], return_inverse=True)
    work = work[~lost]
    low = fluid_bound(time, service, step_s, latency_s, len(work))
    high = first_fit(time, item.astype(np.int64), service, work, np.argsort(-work), step_s, latency_s)
    if low < high and time[0] == time[-1]:
        # One burst: who shares a consumer is a matter of total work alone, the classic packing.
        low, high = _packed(work, min(step_s, latency_s) + TOLERANCE_S, high)
    return alone + low, alone + high


def _packed(work: FloatArray, capacity_s: float, enough: int) -> tuple[int, int]:
    low = lower_bound(work, capacity_s)
    if low < enough and len(work) <= SOLVED_PARTITIONS:
        try:
            low = enough = int(exact_packing(work, capacity_s, time_limit_s=SOLVER_LIMIT_S).max()) + 1
        except InputError:
            return low, enough  # not solved in time: the bounds stand
    return low, enough
