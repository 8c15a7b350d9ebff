"""What every analyzer does."""

from collections.abc import Sequence
from typing import Protocol

from sluice.model import Decision, Snapshot, Workload


class Analyzer(Protocol):
    def analyze(self, snapshot: Snapshot, recent: Sequence[Decision]) -> Workload:
        """What the snapshot means, given the group's last decisions (oldest first). Pure."""
        ...
