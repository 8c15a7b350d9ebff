"""What the consumers of a live run have written down."""

import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.lab.live.consumer import RECORD
from sluice.lab.live.load import Load
from sluice.model.values import FloatArray

Records = NDArray[np.void]
_KIND = np.dtype([("arrived_s", "<f8"), ("ended_s", "<f8"), ("topic", "<i8"), ("partition", "<i8"), ("offset", "<i8")])


def drained(folder: Path, sent: int, *, limit_s: float) -> Records:
    """The records of all events, or of those that are handled within the limit."""
    deadline_s = time.monotonic() + limit_s
    while True:
        found = records_in(folder)
        handled = len({record[2:] for record in found.tolist()}) if len(found) >= sent else 0
        if handled >= sent or time.monotonic() > deadline_s:
            return found
        time.sleep(0.2)


def records_in(folder: Path) -> Records:
    """Of all consumers; a record that is being written is left for the next look."""
    parts = [path.read_bytes() for path in folder.glob("*.times")]
    return np.concatenate(
        [np.empty(0, dtype=_KIND), *(np.frombuffer(p, dtype=_KIND, count=len(p) // RECORD.size) for p in parts)]
    )


def times_s(load: Load, records: Records) -> tuple[FloatArray, FloatArray]:
    """When each event of the load came to the broker and was done (since 1970); NaN: it never was.

    One that was handled twice was done the first time.
    """
    place: dict[tuple[Any, ...], int] = {}
    sent: dict[tuple[int, int], int] = defaultdict(int)
    for index, where in enumerate(zip(load.topic.tolist(), load.partition.tolist(), strict=True)):
        place[*where, sent[where]] = index
        sent[where] += 1
    arrived, ended = np.full(load.count, np.nan), np.full(load.count, np.nan)
    for arrived_s, ended_s, *where in records.tolist():
        index = place[tuple(where)]
        arrived[index] = arrived_s
        ended[index] = np.fmin(ended[index], ended_s)
    return arrived, ended
