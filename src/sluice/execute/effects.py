"""What the steward wants done in the world."""

from dataclasses import dataclass

from sluice.model.commands import Record


@dataclass(frozen=True, slots=True)
class Send:
    """Write to the log of commands."""

    record: Record


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a consumer process."""

    consumer: str
    instance: str


@dataclass(frozen=True, slots=True)
class Terminate:
    """Ask a consumer process to leave."""

    consumer: str
    instance: str


@dataclass(frozen=True, slots=True)
class Fence:
    """Make the broker refuse whatever this process may still commit, and say so with `Steward.fenced`."""

    consumer: str
    instance: str


Effect = Send | Spawn | Terminate | Fence
