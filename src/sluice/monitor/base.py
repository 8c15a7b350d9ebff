"""What every monitor does."""

from typing import Protocol

from sluice.model import Snapshot


class Monitor(Protocol):
    def observe(self) -> tuple[Snapshot, ...]:
        """What the world shows right now, one snapshot for each group, in a fixed order of groups.

        A monitor that is itself told may leave a group out while it has heard nothing new of it.
        """
        ...
