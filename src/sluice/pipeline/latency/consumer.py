"""One consumer's events, served in order: what a task of the job does. Memory does not grow with the events."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa
from pyarrow.fs import FileSystem

from sluice.model.values import FloatArray, IntArray
from sluice.pipeline.latency.cursor import Cursor, Service
from sluice.pipeline.latency.history import Work
from sluice.simulate import FixedService
from sluice.theory.fifo import EVENTS, LATE, MAX_S, SUM_S, Served, empty_queues, empty_tally, serve, tally

_BUFFERED_EVENTS = 1 << 20
_LONGEST_PIECE, _SHORTEST_PIECE = 1 << 16, 1 << 10
_OUTPUT_EVENTS = 1 << 17
_BINS = 64

EVENT_SCHEMA = pa.schema(
    [
        ("consumer", pa.string()),
        ("partition", pa.int32()),
        ("event", pa.int64()),
        ("time_s", pa.float64()),
        ("latency_s", pa.float64()),
    ]
)
PART_SCHEMA = pa.schema(
    [
        ("consumer", pa.string()),
        ("bin", pa.int64()),
        ("events", pa.int64()),
        ("late_events", pa.int64()),
        ("latency_sum_s", pa.float64()),
        ("latency_max_s", pa.float64()),
        ("bucket", pa.list_(pa.int32())),
        ("bucket_events", pa.list_(pa.int64())),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySpec:
    """How events are served and what is counted."""

    service: Service | None
    """None: each event's own, in the column `service_s`."""
    objective_s: float
    bin_s: float = 60.0


def event_batches(root: str, work: Work, spec: LatencySpec) -> Iterator[pa.RecordBatch]:
    """Every event with its latency, in the order served."""
    for served, count, partition, first_event in _served(root, work, spec):
        queue = served.queue[:count]
        yield pa.record_batch(
            [
                pa.repeat(work.consumer, count),
                pa.array(partition[queue].astype(np.int32)),
                pa.array(first_event[queue] + served.place[:count]),
                # Copies: the arrays are written again while Spark still reads these.
                pa.array(served.arrival_s[:count].copy()),
                pa.array(served.latency_s[:count].copy()),
            ],
            schema=EVENT_SCHEMA,
        )


def part_batches(root: str, work: Work, spec: LatencySpec) -> Iterator[pa.RecordBatch]:
    """Counts and a histogram for each bin of arrival time; a bin may come in several parts, which add up."""
    total, counts = empty_tally(_BINS)
    base = 0
    for served, count, _, _ in _served(root, work, spec):
        done = 0
        while done < count:
            done = tally(done, count, served, spec.bin_s, base, spec.objective_s, total, counts)
            if done < count:
                yield from _part(work.consumer, base, total, counts)
                total[:], counts[:] = 0.0, 0
                base = int(np.floor(served.arrival_s[done] / spec.bin_s))
    yield from _part(work.consumer, base, total, counts)


def _served(root: str, work: Work, spec: LatencySpec) -> Iterator[tuple[Served, int, IntArray, IntArray]]:
    """(what was served, how many, each queue's partition, each queue's first event): valid until the next step."""
    system, inner = FileSystem.from_uri(root)
    mine = {p: tuple(segments) for p, segments in groupby(work.segments, key=lambda s: s.partition)}
    length = int(np.clip(_BUFFERED_EVENTS // len(mine), _SHORTEST_PIECE, _LONGEST_PIECE))
    cursors = [Cursor(system, f"{inner}/partition={p}", s, spec.service, length) for p, s in mine.items()]
    fixed = isinstance(spec.service, FixedService)
    queues = empty_queues(len(cursors), length, own_service=not fixed)
    if isinstance(spec.service, FixedService):
        queues.service_s[0, 0] = spec.service.mean_s
    served = Served(
        queue=np.empty(_OUTPUT_EVENTS, dtype=np.int64),
        place=np.empty(_OUTPUT_EVENTS, dtype=np.int64),
        arrival_s=np.empty(_OUTPUT_EVENTS),
        latency_s=np.empty(_OUTPUT_EVENTS),
    )
    partition = np.array(list(mine), dtype=np.int64)
    while True:
        count, starving = serve(queues, served)
        if count:
            yield served, count, partition, np.array([c.first_event for c in cursors], dtype=np.int64)
        if starving >= 0:
            cursors[starving].fill(queues, starving)
        elif count == 0:
            return


def _part(consumer: str, base: int, total: FloatArray, counts: IntArray) -> Iterator[pa.RecordBatch]:
    rows = np.flatnonzero(total[:, EVENTS])
    if not len(rows):
        return
    filled = [np.flatnonzero(counts[row]) for row in rows]
    yield pa.record_batch(
        [
            pa.repeat(consumer, len(rows)),
            pa.array(rows + base),
            pa.array(total[rows, EVENTS].astype(np.int64)),
            pa.array(total[rows, LATE].astype(np.int64)),
            pa.array(total[rows, SUM_S]),
            pa.array(total[rows, MAX_S]),
            pa.array([buckets.astype(np.int32) for buckets in filled], type=pa.list_(pa.int32())),
            pa.array([counts[row][b] for row, b in zip(rows, filled, strict=True)], type=pa.list_(pa.int64())),
        ],
        schema=PART_SCHEMA,
    )
