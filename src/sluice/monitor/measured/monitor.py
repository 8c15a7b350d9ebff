"""The load of groups as a stream of measurements says; everything else as another monitor sees it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sluice.model import Partition, Snapshot
from sluice.model.values import FloatArray, floats, frozen, replace
from sluice.monitor.base import Monitor
from sluice.monitor.measured.base import Measurements
from sluice.monitor.measured.measurement import Measurement


@dataclass(slots=True)
class _Written:
    """Bytes since the beginning, as the speeds add up."""

    time_s: float
    total: dict[Partition, float]
    newest: Measurement | None = None


class MeasuredMonitor:
    """A speed holds from the look it is first seen at until the next one is there, so that the rate a policy gets is
    the measurement's, whatever the time between two looks.

    What the stream does not tell of, or has not told anything of for `stale_s`, is unknown.
    """

    def __init__(self, wrapped: Monitor, streams: Mapping[str, Measurements], *, stale_s: float) -> None:
        self._wrapped = wrapped
        self._streams = dict(streams)
        self._stale_s = stale_s
        self._written: dict[str, _Written] = {}

    def observe(self) -> tuple[Snapshot, ...]:
        return tuple(self._measured(snapshot) for snapshot in self._wrapped.observe())

    def newest(self, group: str) -> Measurement | None:
        """What the last look at the group was told."""
        written = self._written.get(group)
        return None if written is None else written.newest

    def _measured(self, snapshot: Snapshot) -> Snapshot:
        stream = self._streams.get(snapshot.group)
        if stream is None:
            return snapshot
        written = self._written.setdefault(snapshot.group, _Written(snapshot.time_s, {}))
        written.newest = stream.newest()
        end_bytes = _add(written, snapshot, self._stale_s)
        written.time_s = snapshot.time_s
        return replace(snapshot, end_bytes=end_bytes)


def _add(written: _Written, snapshot: Snapshot, stale_s: float) -> FloatArray:
    told = written.newest
    if told is None or snapshot.time_s - told.time_s > stale_s:
        return floats(np.full(len(snapshot.partitions), np.nan))
    passed_s = max(snapshot.time_s - written.time_s, 0.0)
    for partition, speed in told.speed_bps.items():
        written.total[partition] = written.total.get(partition, 0.0) + speed * passed_s
    there = [written.total[p] if p in told.speed_bps else np.nan for p in snapshot.partitions]
    return frozen(np.array(there, dtype=np.float64))
