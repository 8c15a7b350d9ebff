"""One FIFO server over several queues, each in order: latencies of any number of events, piece by piece.

An event becomes ready at some time; the server takes events in the order in which they became ready (ties: by the
number each carries, then by queue) and starts one when the event before is done:
start = max(ready, finish of the event before), finish = start + service.
Queues are given in pieces. The server stops when a queue's piece is used up and more of it may follow, so that memory
does not grow with the number of events.
"""

from typing import NamedTuple

import numpy as np

from sluice.theory.arrays import BoolArray, FloatArray, IntArray
from sluice.theory.histogram import BUCKETS, bucket_of
from sluice.theory.kernel import compiled

EVENTS, LATE, SUM_S, MAX_S = range(4)


class Queues(NamedTuple):
    """One row a queue; entries `at[q]` to `end[q]` of a row are there and not served yet."""

    ready_s: FloatArray
    arrival_s: FloatArray
    service_s: FloatArray
    """One entry for all events, or a row a queue."""
    number: IntArray
    """Order among events that become ready at the same time."""
    at: IntArray
    end: IntArray
    ended: BoolArray
    """Nothing follows the piece that is there."""
    heap: IntArray
    """Queues with something to serve, the next one first; the server's own."""
    free_s: FloatArray
    """One entry: when the server is done with all it has started."""


class Served(NamedTuple):
    """What the server writes: one entry an event, in the order served."""

    queue: IntArray
    place: IntArray
    """Where in its queue's row the event stood."""
    arrival_s: FloatArray
    latency_s: FloatArray


def empty_queues(queues: int, length: int, *, own_service: bool) -> Queues:
    """Room for `length` events of each queue; `own_service` when every event has a service time of its own."""
    return Queues(
        ready_s=np.empty((queues, length)),
        arrival_s=np.empty((queues, length)),
        service_s=np.empty((queues, length) if own_service else (1, 1)),
        number=np.empty((queues, length), dtype=np.int64),
        at=np.zeros(queues, dtype=np.int64),
        end=np.zeros(queues, dtype=np.int64),
        ended=np.zeros(queues, dtype=np.bool_),
        heap=np.empty(queues, dtype=np.int64),
        free_s=np.zeros(1),
    )


@compiled
def _before(a: int, b: int, queues: Queues) -> bool:
    i, j = queues.at[a], queues.at[b]
    if queues.ready_s[a, i] != queues.ready_s[b, j]:
        return bool(queues.ready_s[a, i] < queues.ready_s[b, j])
    if queues.number[a, i] != queues.number[b, j]:
        return bool(queues.number[a, i] < queues.number[b, j])
    return a < b


@compiled
def _sift_down(size: int, root: int, queues: Queues) -> None:
    heap = queues.heap
    while True:
        child = 2 * root + 1
        if child >= size:
            return
        if child + 1 < size and _before(heap[child + 1], heap[child], queues):
            child += 1
        if not _before(heap[child], heap[root], queues):
            return
        heap[root], heap[child] = heap[child], heap[root]
        root = child


@compiled
def serve(queues: Queues, served: Served) -> tuple[int, int]:
    """(events served, queue that must be refilled first): -1 when the output is full or every queue has ended."""
    size = 0
    for q in range(len(queues.at)):
        if queues.at[q] < queues.end[q]:
            queues.heap[size] = q
            size += 1
        elif not queues.ended[q]:
            return 0, q
    for root in range(size // 2 - 1, -1, -1):
        _sift_down(size, root, queues)
    same_service = queues.service_s.size == 1
    service_s = queues.service_s[0, 0] if same_service else 0.0
    free_s = queues.free_s[0]
    room = len(served.latency_s)
    count = 0
    starving = -1
    while size > 0 and count < room:
        q = queues.heap[0]
        i = queues.at[q]
        if not same_service:
            service_s = queues.service_s[q, i]
        free_s = max(queues.ready_s[q, i], free_s) + service_s
        served.queue[count] = q
        served.place[count] = i
        served.arrival_s[count] = queues.arrival_s[q, i]
        served.latency_s[count] = free_s - queues.arrival_s[q, i]
        count += 1
        queues.at[q] = i + 1
        if i + 1 == queues.end[q]:
            if not queues.ended[q]:
                starving = q
                break
            size -= 1
            queues.heap[0] = queues.heap[size]
        _sift_down(size, 0, queues)
    queues.free_s[0] = free_s
    return count, starving


@compiled
def tally(
    first: int, last: int, served: Served, bin_s: float, base: int, limit_s: float, total: FloatArray, counts: IntArray
) -> int:
    """Count the events `first` to `last` into bins of their arrival time; row r of the counts is bin `base` + r.

    Returns the first event whose bin has no row (`last` when there is none).
    """
    for i in range(first, last):
        row = int(np.floor(served.arrival_s[i] / bin_s)) - base
        if row < 0 or row >= len(total):
            return i
        latency_s = served.latency_s[i]
        total[row, EVENTS] += 1.0
        total[row, SUM_S] += latency_s
        total[row, MAX_S] = max(total[row, MAX_S], latency_s)
        # A finish time is a sum of many terms: an event that is due exactly at the limit is not late.
        if latency_s > limit_s + 1e-9:
            total[row, LATE] += 1.0
        counts[row, bucket_of(latency_s)] += 1
    return last


def empty_tally(rows: int) -> tuple[FloatArray, IntArray]:
    """(total, counts) for `rows` bins."""
    return np.zeros((rows, 4)), np.zeros((rows, BUCKETS), dtype=np.int64)
