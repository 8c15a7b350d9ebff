"""Which group is observed, and how."""

from dataclasses import dataclass
from enum import StrEnum

from sluice.errors import InputError
from sluice.model import LagBasis
from sluice.model.telemetry import telemetry_topic


class Ownership(StrEnum):
    """Who says which consumer owns which partition."""

    GROUP = "group"
    """The broker: the consumers are members of a Kafka consumer group."""
    MANAGED = "managed"
    """The consumers' own reports: partitions are assigned by command, the broker only keeps the offsets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSource:
    """One observed group."""

    group: str
    topics: tuple[str, ...]
    ownership: Ownership = Ownership.GROUP
    lag_basis: LagBasis = LagBasis.COMMITTED
    from_start: bool = True
    """Where a partition without a committed offset begins: at its oldest event, else at its end."""
    reports: str | None = None
    """Topic of the consumers' reports; None: the group's own (`__sluice.<group>.telemetry`)."""
    lease_s: float = 10.0
    """A consumer that has not reported for this long counts as gone."""
    silence_s: float = 3.0
    """A consumer that has not reported for this long makes the group unsettled: nothing is decided on old news."""

    def __post_init__(self) -> None:
        if not self.topics:
            raise InputError(f"topics of group {self.group!r} is empty; name at least one")
        if not 0 < self.silence_s <= self.lease_s:
            raise InputError(f"silence_s is {self.silence_s}; give a time above 0 and at most lease_s ({self.lease_s})")

    @property
    def reports_topic(self) -> str:
        return self.reports or telemetry_topic(self.group)
