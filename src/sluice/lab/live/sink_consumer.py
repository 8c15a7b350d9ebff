"""A consumer that gathers batches and sends them to a sink of a given speed; writes down when each batch was done."""

import os
import struct
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sluice.lab.live.parent import end_with_parent
from sluice.sdk import Batch, Event, run_batches

RECORD = struct.Struct("<ddqq")
"""Begin and end of the sending (monotonic seconds), bytes, events."""


class Sink:
    """Takes `speed_bps` bytes a second; what a sleep was too long the next is shorter."""

    def __init__(
        self,
        speed_bps: float,
        write: Callable[[bytes], object],
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._speed_bps = speed_bps
        self._write = write
        self._sleep, self._clock = sleep, clock
        self._debt_s = 0.0

    def __call__(self, events: Sequence[Event]) -> None:
        begun_s = self._clock()
        size_bytes = sum(event.size_bytes for event in events)
        rest_s = size_bytes / self._speed_bps - self._debt_s
        self._sleep(max(rest_s, 0.0))
        ended_s = self._clock()
        self._debt_s = max(ended_s - begun_s - rest_s, 0.0)
        self._write(RECORD.pack(begun_s, ended_s, size_bytes, len(events)))


def main() -> None:
    end_with_parent()
    out = (Path(os.environ["SINK_FOLDER"]) / f"{os.getpid()}.batches").open("ab", buffering=0)
    batch = Batch(
        max_events=1_000_000,
        max_bytes=int(os.environ["SINK_BATCH_BYTES"]),
        max_wait_s=float(os.environ["SINK_WAIT_S"]),
    )
    run_batches(Sink(float(os.environ["SINK_BPS"]), out.write), batch=batch)


if __name__ == "__main__":
    main()
