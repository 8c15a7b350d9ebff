"""What a consumer says of itself, and how it is written on the wire (JSON, one report a message).

Reports go to the group's telemetry topic, keyed by the consumer's name. Counters run from the start of the process and
never go down, so reports may be lost or read late. A restarted consumer has another `run`: its counters begin anew.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from msgspec import field

from sluice.errors import InputError
from sluice.model.assignment import Partition
from sluice.model.sketch import LatencySketch
from sluice.model.values import Value, ints

_T = TypeVar("_T")

VERSION = 1
COUNTERS = (
    "processed_events",
    "processed_bytes",
    "emitted_events",
    "retried_events",
    "skipped_events",
    "batches",
    "batch_events2",
    "busy_s",
    "busy_s2",
    "latency_s",
    "gap_s",
    "gap_s2",
)


def telemetry_topic(group: str) -> str:
    """Where a group's consumers report, unless a setting names another topic."""
    return f"__sluice.{group}.telemetry"


class Begun(NamedTuple):
    """Since when a consumer could read a partition, and the first event it read there."""

    from_event: int | None
    """None: nothing has been read yet, and nothing was committed before."""
    since_s: float
    """Wall clock of the consumer."""


class Telemetry(Value, frozen=True, kw_only=True):
    """One report of one consumer."""

    group: str
    consumer: str
    """The name the plan knows it by."""
    run: str
    """Changes with every start of the process."""
    time_s: float
    """Wall clock of the consumer when it wrote the report."""
    epoch: int = 0
    """Of the last command it obeyed; 0 when it takes no commands."""
    positions: Mapping[Partition, int | None] = {}
    """The partitions it owns, and for each the next event to process; None: owned, not yet known where to begin."""
    committed: Mapping[Partition, int] = {}
    """The offsets it has committed, as the broker confirmed them."""
    begun: Mapping[Partition, Begun] = {}
    """How its time with each of the partitions it owns began."""
    processed_events: float = 0.0
    processed_bytes: float = 0.0
    emitted_events: float = 0.0
    retried_events: float = 0.0
    skipped_events: float = 0.0
    """Given up and sent to the dead-letter topic."""
    batches: float = 0.0
    """Polls that brought something; mean batch = processed_events / batches."""
    batch_events2: float = 0.0
    """Sum of squared batch sizes."""
    busy_s: float = 0.0
    """Sum of service times."""
    busy_s2: float = 0.0
    """Sum of squared service times, one term an event (for a batch handler: its share of the batch's time)."""
    latency_s: float = 0.0
    """Sum over events of the time from the record's timestamp to the end of processing."""
    gap_s: float = 0.0
    """Sum of the times between two consecutive arrivals (record timestamps) at this consumer."""
    gap_s2: float = 0.0
    latency: LatencySketch = field(default_factory=LatencySketch.empty)
    """How those latencies are spread, since the start as well."""
    pause_s: float | None = None
    """How long the partition it took over last stood still, from the old owner's last event to its own first."""
    startup_s: float | None = None
    """From the start of the process until it could read."""
    left: bool = False
    """Its last report: it has committed, stopped, and owns nothing any more."""

    def to_wire(self) -> bytes:
        data: dict[str, Any] = {
            "v": VERSION,
            "group": self.group,
            "consumer": self.consumer,
            "run": self.run,
            "time_s": self.time_s,
            "epoch": self.epoch,
            "positions": _by_topic(self.positions),
            "committed": _by_topic(self.committed),
            "begun": _by_topic(self.begun),
            **{name: getattr(self, name) for name in COUNTERS},
            "latency": [self.latency.bucket.tolist(), self.latency.count.tolist()],
            "pause_s": self.pause_s,
            "startup_s": self.startup_s,
            "left": self.left,
        }
        return json.dumps(data, separators=(",", ":"), allow_nan=False).encode()

    @classmethod
    def from_wire(cls, message: bytes) -> "Telemetry":
        """InputError when the message is none of ours, or of a version this program does not know."""
        try:
            data = json.loads(message)
            if data["v"] != VERSION:
                raise InputError(
                    f"telemetry of version {data['v']!r}; this program reads {VERSION}, update the older side"
                )
            bucket, count = data["latency"]
            return cls(
                group=str(data["group"]),
                consumer=str(data["consumer"]),
                run=str(data["run"]),
                time_s=float(data["time_s"]),
                epoch=int(data["epoch"]),
                positions=_partitions(data["positions"], _offset),
                committed=_partitions(data["committed"], int),
                # Reports of consumers that do not say so yet are as good as any.
                begun=_partitions(data.get("begun", {}), _begun),
                **{name: float(data[name]) for name in COUNTERS},
                latency=LatencySketch(bucket=ints(bucket), count=ints(count)),
                pause_s=_number(data.get("pause_s")),
                startup_s=_number(data.get("startup_s")),
                left=bool(data.get("left", False)),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"not a telemetry report: {type(error).__name__}: {error}") from error


def _by_topic(values: Mapping[Partition, Any]) -> dict[str, dict[str, Any]]:
    """A topic's name is written once, not with each of its partitions."""
    grouped: dict[str, dict[str, Any]] = {}
    for partition, value in values.items():
        grouped.setdefault(partition.topic, {})[str(partition.number)] = value
    return grouped


def _partitions(grouped: Mapping[str, Mapping[str, Any]], read: Callable[[Any], _T]) -> dict[Partition, _T]:
    return {
        Partition(topic, int(number)): read(value) for topic, held in grouped.items() for number, value in held.items()
    }


def _offset(value: Any) -> int | None:
    return None if value is None else int(value)


def _begun(value: Any) -> Begun:
    from_event, since_s = value
    return Begun(_offset(from_event), float(since_s))


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
