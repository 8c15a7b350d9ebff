"""What a handler receives."""

from typing import NamedTuple

from sluice.model import Partition


class Event(NamedTuple):
    """One event as the broker keeps it; a tuple, because a consumer makes hundreds of thousands of them a second."""

    partition: Partition
    offset: int
    key: bytes | None
    value: bytes | None
    """None is a tombstone."""
    timestamp_s: float
    """Seconds since 1970 as the topic stamps them (creation or append); NaN when the broker keeps none."""
    headers: tuple[tuple[str, bytes | None], ...] = ()

    @property
    def size_bytes(self) -> int:
        """Key and value; what a batch by bytes counts."""
        return len(self.key or b"") + len(self.value or b"")
