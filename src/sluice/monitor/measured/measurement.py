"""One measurement, and how it is written.

    {"since_s": 1700000000.0, "time_s": 1700000030.0, "speed_bps": {"payments": {"0": 1200.0, "1": 80.5}}}

Speeds are means over the time from `since_s` to `time_s` (seconds since 1970), in bytes a second.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.errors import InputError
from sluice.model import Partition


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    since_s: float
    time_s: float
    speed_bps: Mapping[Partition, float]

    def __post_init__(self) -> None:
        if not -math.inf < self.since_s <= self.time_s < math.inf:
            raise InputError(f"measurement from {self.since_s} to {self.time_s} s; give two times, the earlier first")
        for partition, speed in self.speed_bps.items():
            if not 0 <= speed < math.inf:
                raise InputError(f"speed_bps of {partition} is {speed}; give a number of at least 0")

    def to_json(self) -> bytes:
        topics: dict[str, dict[str, float]] = {}
        for partition, speed in self.speed_bps.items():
            topics.setdefault(partition.topic, {})[str(partition.number)] = speed
        return json.dumps({"since_s": self.since_s, "time_s": self.time_s, "speed_bps": topics}).encode()

    @classmethod
    def from_json(cls, text: bytes) -> "Measurement":
        """InputError for what is no measurement."""
        try:
            data: Any = json.loads(text)
            return cls(
                since_s=float(data["since_s"]),
                time_s=float(data["time_s"]),
                speed_bps={
                    Partition(str(topic), int(number)): float(speed)
                    for topic, numbers in data["speed_bps"].items()
                    for number, speed in numbers.items()
                },
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            shape = '{"since_s": …, "time_s": …, "speed_bps": {topic: {partition: bytes/s}}}'
            raise InputError(f"no measurement ({error}); write {shape}") from None
