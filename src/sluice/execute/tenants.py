"""Who holds which partition, as far as the controller can be sure of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from sluice.model import Partition
from sluice.model.commands import Release


class Phase(Enum):
    UNKNOWN = auto()
    """Given by an earlier leader; its consumer has not reported to this one."""
    STARTING = auto()
    READING = auto()
    STOPPING = auto()
    LOST = auto()
    """Its consumer was evicted; nobody may start before it has certainly stopped."""


@dataclass(slots=True)
class Tenant:
    """The process a partition was given to and has not come back from."""

    consumer: str
    instance: str
    epoch: int
    lease_s: float
    phase: Phase
    started_at: int | None = None
    """Offset of the command that gave it; None until the command was read back from the log."""
    stopping_since_s: float = 0.0


class Tenants(dict[Partition, Tenant]):
    """Every partition that is not free."""

    def of(self, instance: str) -> Iterator[tuple[Partition, Tenant]]:
        return ((p, t) for p, t in list(self.items()) if t.instance == instance)

    def drop(self, instance: str) -> None:
        for partition, _ in self.of(instance):
            del self[partition]


@dataclass(frozen=True, slots=True)
class Pause:
    """A partition that changed hands, and how long it stood still."""

    partition: Partition
    pause_s: float


class Handovers:
    """Where released partitions are to begin again, and how long they have stood still."""

    def __init__(self) -> None:
        self._offset: dict[Partition, int] = {}
        self._since_s: dict[Partition, float] = {}

    def released(self, release: Release, now_s: float) -> None:
        if release.offset is not None:
            self._offset[release.partition] = release.offset
        self._since_s[release.partition] = now_s - release.stood_s

    def take_offset(self, partition: Partition) -> int | None:
        """Where it was left; None when its consumer did not let go of it in order: the committed offset counts."""
        return self._offset.pop(partition, None)

    def forget(self, partition: Partition) -> None:
        self._offset.pop(partition, None)
        self._since_s.pop(partition, None)

    def stood_s(self, partition: Partition, now_s: float) -> float | None:
        since_s = self._since_s.get(partition)
        return None if since_s is None else now_s - since_s

    def reading(self, partition: Partition, now_s: float) -> Pause | None:
        since_s = self._since_s.pop(partition, None)
        return None if since_s is None else Pause(partition, now_s - since_s)
