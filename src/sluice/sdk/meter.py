"""What a consumer measures of its own work: counters since its start, that can be subtracted at any two instants."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from datasketches import kll_floats_sketch

from sluice.model import Partition
from sluice.sdk.event import Event

# Rank error of about 0.7 %, a few kilobytes.
SKETCH_SIZE = 400


@dataclass(slots=True)
class Meter:
    """Filled by the working thread; the reporting thread reads it, a batch late at most."""

    processed_events: int = 0
    batches: int = 0
    busy_s: float = 0.0
    busy_s2: float = 0.0
    latency_s: float = 0.0
    gap_s: float = 0.0
    gap_s2: float = 0.0
    failed_events: int = 0
    """Failed tries, whatever became of the event."""
    dead_letters: int = 0
    positions: dict[Partition, int] = field(default_factory=dict)
    """Next offset of each partition: everything before it is processed."""
    latencies: kll_floats_sketch = field(default_factory=lambda: kll_floats_sketch(SKETCH_SIZE))
    _last_arrival_s: float = math.nan

    def record(self, events: Sequence[Event], service_s: Sequence[float], since_end_s: Sequence[float]) -> None:
        """These events are done: how long each took, and how long ago it was finished (both in seconds)."""
        if not events:
            return
        took = np.asarray(service_s)
        arrived = np.array([event.timestamp_s for event in events])
        # The wall clock is read here only: latency needs it, everything else is measured on the monotonic one.
        latency = np.maximum(time.time() - np.asarray(since_end_s) - arrived, 0.0)
        self.processed_events += len(events)
        self.busy_s += float(took.sum())
        self.busy_s2 += float(took @ took)
        if math.isfinite(total := float(latency.sum())):
            self.latency_s += total
            self.latencies.update(latency)
            self._arrivals(arrived)

    def _arrivals(self, arrived: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> None:
        # In the order of arrival at the broker: a poll brings one partition after the other.
        ordered = np.sort(arrived)
        if math.isfinite(self._last_arrival_s):
            ordered = np.maximum(np.concatenate(([self._last_arrival_s], ordered)), self._last_arrival_s)
        gaps = np.diff(ordered)
        self.gap_s += float(gaps.sum())
        self.gap_s2 += float(gaps @ gaps)
        self._last_arrival_s = float(ordered[-1])
