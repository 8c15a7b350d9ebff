"""A consumer that takes as long for an event as the scenario says, and writes down when each one came and was done."""

import json
import math
import os
import random
import struct
import time
from collections.abc import Callable
from pathlib import Path

from sluice.lab.live.parent import end_with_parent
from sluice.sdk import Event, run

RECORD = struct.Struct("<ddqqq")
"""Arrival and end (seconds since 1970), the topic's number, partition, offset."""
BREATH_S = 0.03
"""Between two events of a consumer that has enough to do there is at most this: a poll and a little bookkeeping."""
DEBT_S = 0.1
"""What a machine was late by beyond this is lost, as it would be for real work."""


def service_draw(service: dict[str, float | str], dice: random.Random) -> Callable[[Event], float]:
    """How long the next event takes."""
    kind = service["kind"]
    if kind == "per-byte":
        slope, base_s = float(service["s_per_byte"]), float(service["base_s"])
        return lambda event: base_s + slope * event.size_bytes
    mean_s = float(service["mean_s"])
    if kind == "exponential":
        return lambda _: dice.expovariate(1.0 / mean_s)
    if kind == "lognormal":
        variance = math.log(1.0 + float(service["cv"]) ** 2)
        return lambda _: dice.lognormvariate(math.log(mean_s) - variance / 2, math.sqrt(variance))
    return lambda _: mean_s


class Work:
    """Sleeps instead of working. What one sleep was too long the next is shorter: the mean rate is the scenario's.

    `sleep`, `clock` (monotonic) and `wall` (since 1970) are given, so that it can be checked without waiting.
    """

    def __init__(
        self,
        draw: Callable[[Event], float],
        write: Callable[[Event, float], object],
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._draw = draw
        self._write = write
        self._sleep, self._clock, self._wall = sleep, clock, wall
        self._due_s = -math.inf
        """When the event before should have ended,"""
        self._ended_s = -math.inf
        """and when it did."""

    def __call__(self, event: Event) -> None:
        now_s = self._clock()
        begin_s = self._due_s if self._busy(event, now_s) else now_s
        self._due_s = max(begin_s, now_s - DEBT_S) + self._draw(event)
        if (rest_s := self._due_s - self._clock()) > 0:
            self._sleep(rest_s)
        self._ended_s = self._clock()
        self._write(event, self._wall())

    def _busy(self, event: Event, now_s: float) -> bool:
        """The event before has only just ended, and this one was there by then: it follows without a gap."""
        waited_s = self._wall() - event.timestamp_s
        return now_s - self._ended_s < BREATH_S and waited_s > now_s - self._ended_s


class Recorder:
    """Appends a record an event to a file, at once: nothing is lost with a process that is killed."""

    def __init__(self, topics: list[str], out: Path) -> None:
        self._number = {topic: number for number, topic in enumerate(topics)}
        self._out = out.open("ab", buffering=0)

    def __call__(self, event: Event, ended_s: float) -> None:
        where = event.partition
        self._out.write(RECORD.pack(event.timestamp_s, ended_s, self._number[where.topic], where.number, event.offset))


def main() -> None:
    end_with_parent()
    name = f"{os.environ['SLUICE_CONSUMER']}.{os.getpid()}"
    recorder = Recorder(os.environ["SLUICE_TOPICS"].split(","), Path(os.environ["REPLAY_FOLDER"]) / f"{name}.times")
    draw = service_draw(json.loads(os.environ["REPLAY_SERVICE"]), random.Random(name))
    run(Work(draw, recorder))


if __name__ == "__main__":
    main()
