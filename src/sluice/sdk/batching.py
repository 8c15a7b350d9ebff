"""How events are gathered into the batches a handler receives."""

import math
from dataclasses import dataclass, field

from sluice.errors import InputError
from sluice.model import Partition
from sluice.sdk.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch is handed over when it holds so many events or bytes, or its first event has waited so long."""

    max_events: int = 500
    max_bytes: int | None = None
    max_wait_s: float = 0.0
    """0: whatever a poll brings is a batch."""

    def __post_init__(self) -> None:
        if self.max_events < 1:
            raise InputError(f"batch.max_events is {self.max_events}; give 1 or more")
        if self.max_bytes is not None and self.max_bytes < 1:
            raise InputError(f"batch.max_bytes is {self.max_bytes}; give 1 or more, or leave it out")
        if not 0 <= self.max_wait_s < math.inf:
            raise InputError(f"batch.max_wait_s is {self.max_wait_s}; give 0 s or more")


@dataclass(slots=True)
class Gathered:
    """The batch that is being gathered."""

    limits: Batch
    events: list[Event] = field(default_factory=list)
    size_bytes: int = 0
    due_s: float = math.inf
    """When the first event has waited long enough, on the caller's clock."""

    @property
    def room(self) -> int:
        """How many events the next poll may bring."""
        return self.limits.max_events - len(self.events)

    def add(self, events: list[Event], now_s: float) -> None:
        if not events:
            return
        if not self.events:
            self.due_s = now_s + self.limits.max_wait_s
        self.events.extend(events)
        if self.limits.max_bytes is not None:
            self.size_bytes += sum(event.size_bytes for event in events)

    def ready(self, now_s: float) -> bool:
        if not self.events:
            return False
        full = self.limits.max_bytes is not None and self.size_bytes >= self.limits.max_bytes
        return full or self.room <= 0 or now_s >= self.due_s

    def take(self) -> list[Event]:
        """The batch; a new one begins."""
        taken = self.events
        self.events, self.size_bytes, self.due_s = [], 0, math.inf
        return taken

    def forget(self, partition: Partition) -> None:
        """Drop what is gathered of a partition that was taken away; its next owner reads it again."""
        self.events = [event for event in self.events if event.partition != partition]
        if self.limits.max_bytes is not None:
            self.size_bytes = sum(event.size_bytes for event in self.events)
        if not self.events:
            self.due_s = math.inf
