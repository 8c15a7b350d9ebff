"""Each group with an analyzer of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sluice.analyze.base import Analyzer
from sluice.model import Decision, Snapshot, Workload


@dataclass(frozen=True, slots=True)
class ByGroup:
    """Groups differ in what is known of them beforehand."""

    analyzers: Mapping[str, Analyzer]

    def analyze(self, snapshot: Snapshot, recent: Sequence[Decision]) -> Workload:
        return self.analyzers[snapshot.group].analyze(snapshot, recent)
