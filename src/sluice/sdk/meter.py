"""What a consumer measures of its own work: counters since its start, that can be subtracted at any two instants."""

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from types import MappingProxyType

import numpy as np

from sluice.model import Partition
from sluice.model.sketch import LatencySketch, buckets_of
from sluice.model.telemetry import Begun, Telemetry
from sluice.model.values import FloatArray, IntArray, ints
from sluice.sdk.event import Event

_PARTITION, _OFFSET, _KEY, _VALUE, _TIMESTAMP = map(itemgetter, range(5))


@dataclass(slots=True)
class Meter:
    """Filled by the working thread; the reporting thread reads it, a batch late at most."""

    processed_events: int = 0
    processed_bytes: int = 0
    retried_events: int = 0
    skipped_events: int = 0
    batches: int = 0
    batch_events2: int = 0
    busy_s: float = 0.0
    busy_s2: float = 0.0
    latency_s: float = 0.0
    gap_s: float = 0.0
    gap_s2: float = 0.0
    pause_s: float | None = None
    startup_s: float | None = None
    positions: dict[Partition, int] = field(default_factory=dict)
    """Next offset of each partition: everything before it is processed."""
    wall_clock: Callable[[], float] = time.time
    begun: dict[Partition, Begun] = field(default_factory=dict)
    """How the time with each partition began."""
    _latencies: IntArray = field(default_factory=lambda: np.zeros(512, dtype=np.int64))
    _last_arrival_s: float = math.nan

    def polled(self, count: int) -> None:
        """A poll brought so many events."""
        self.batches += 1
        self.batch_events2 += count * count

    def record(
        self,
        events: Sequence[Event],
        *,
        begun_s: float,
        ended_s: Sequence[float] | FloatArray,
        now_s: float,
        waited_s: Mapping[int, float] = MappingProxyType({}),
    ) -> None:
        """These events were handled one after the other from `begun_s` on, each until its `ended_s`: positions move on.

        `waited_s`: how long the worker rested before an event. All times are of one monotonic clock that shows `now_s`.
        """
        if not events:
            return
        # Column by column and in C; of each partition the last offset stays.
        for partition, offset in dict(zip(map(_PARTITION, events), map(_OFFSET, events), strict=True)).items():
            self.positions[partition] = offset + 1
            if (begun := self.begun.get(partition)) is not None and begun.from_event is None:
                first = next(event.offset for event in events if event.partition == partition)
                self.begun[partition] = Begun(first, begun.since_s)
        ended = np.asarray(ended_s)
        took = ended.copy()
        took[1:] -= ended[:-1]
        took[0] -= begun_s
        for index, rest_s in waited_s.items():
            if index < len(took):
                took[index] -= rest_s
        self.processed_events += len(events)
        self.processed_bytes += _size(map(_KEY, events)) + _size(map(_VALUE, events))
        self.busy_s += float(took.sum())
        self.busy_s2 += float(took @ took)
        arrived = np.fromiter(map(_TIMESTAMP, events), dtype=np.float64, count=len(events))
        # The wall clock is read here only: latency needs it, everything else is measured on the monotonic one.
        latency = np.maximum(ended + (self.wall_clock() - now_s) - arrived, 0.0)
        if math.isfinite(total := float(latency.sum())):
            self.latency_s += total
            self._spread(latency)
            self._arrivals(arrived)

    def report(
        self,
        *,
        group: str,
        consumer: str,
        run: str,
        owned: Collection[Partition],
        committed: Mapping[Partition, int],
        epoch: int = 0,
    ) -> Telemetry:
        positions, begun = dict(self.positions), dict(self.begun)
        filled = np.flatnonzero(self._latencies)
        return Telemetry(
            group=group,
            consumer=consumer,
            run=run,
            time_s=self.wall_clock(),
            epoch=epoch,
            positions={partition: positions.get(partition) for partition in owned},
            committed=committed,
            begun={partition: begun[partition] for partition in owned if partition in begun},
            processed_events=self.processed_events,
            processed_bytes=self.processed_bytes,
            retried_events=self.retried_events,
            skipped_events=self.skipped_events,
            batches=self.batches,
            batch_events2=self.batch_events2,
            busy_s=self.busy_s,
            busy_s2=self.busy_s2,
            latency_s=self.latency_s,
            gap_s=self.gap_s,
            gap_s2=self.gap_s2,
            latency=LatencySketch(bucket=ints(filled), count=ints(self._latencies[filled])),
            pause_s=self.pause_s,
            startup_s=self.startup_s,
        )

    def _spread(self, latency: FloatArray) -> None:
        bucket = buckets_of(latency)
        if (top := int(bucket.max())) >= len(self._latencies):
            self._latencies = np.concatenate(
                [self._latencies, np.zeros(top + 1 - len(self._latencies), dtype=np.int64)]
            )
        self._latencies += np.bincount(bucket, minlength=len(self._latencies))

    def _arrivals(self, arrived: FloatArray) -> None:
        # In the order of arrival at the broker: a poll brings one partition after the other.
        ordered = np.sort(arrived)
        if math.isfinite(self._last_arrival_s):
            ordered = np.maximum(np.concatenate(([self._last_arrival_s], ordered)), self._last_arrival_s)
        gaps = np.diff(ordered)
        self.gap_s += float(gaps.sum())
        self.gap_s2 += float(gaps @ gaps)
        self._last_arrival_s = float(ordered[-1])


def _size(column: Iterable[bytes | None]) -> int:
    return sum(map(len, filter(None, column)))
