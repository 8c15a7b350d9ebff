"""One watched group: what was last known of it, and how certain that is."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sluice.errors import InputError, UnavailableError
from sluice.model import Assignment, Partition
from sluice.monitor.kafka.members import members_standing
from sluice.monitor.kafka.offsets import OffsetReader
from sluice.monitor.kafka.reports import Heard, ReportReader
from sluice.monitor.kafka.source import GroupSource, Ownership
from sluice.monitor.kafka.standing import Standing, carried_over, reported_standing

# Partitions can be added to a topic while it is read; nobody needs to know at once.
TOPICS_EVERY_S = 10.0
# A leader may have moved: the client would find out by itself only minutes later.
TOPICS_AGAIN_S = 2.0


@dataclass(slots=True)
class Watched:
    source: GroupSource
    offsets: OffsetReader
    reports: ReportReader
    partitions: tuple[Partition, ...]
    last: Assignment
    looked_s: float
    """When the topics were last asked for their partitions."""
    whole: bool = True
    """The last look found every end offset."""
    members: Standing | None = None
    """What the broker said of the members at the last look; None: nothing."""

    def refresh_partitions(self, now_s: float, *, limit_s: float) -> None:
        if now_s - self.looked_s < (TOPICS_EVERY_S if self.whole else TOPICS_AGAIN_S):
            return
        self.looked_s = now_s
        # A topic that is gone, or a broker that is away: the known partitions stay, and their offsets will be unknown.
        with suppress(InputError, UnavailableError):
            self.partitions = self.offsets.partitions(self.source.topics, limit_s=limit_s)

    def standing(
        self,
        now_s: float,
        heard: Mapping[str, Heard],
        *,
        described: Mapping[str, Any] | None,
        commanded: Standing | None,
        answered: bool,
    ) -> Standing:
        """Who owns what. `described`: by the broker; `commanded`: by whoever commands the consumers; `answered`: the
        reports can be read."""
        age_s = {name: now_s - each.time_s for name, each in heard.items()}
        readable = answered and self.reports.ready
        if self.source.ownership is Ownership.GROUP:
            self.members = standing = members_standing(described, self.partitions, self.last)
            if described is None:
                self.members = None
        elif commanded is not None:
            standing = commanded
        else:
            return self._by_reports(heard, age_s, readable=readable)
        consumers = standing.assignment.consumers
        for name in age_s.keys() - set(consumers) if standing.settled else ():
            self.reports.forget(name)  # no longer one of them
        silent = any(age_s[name] > self.source.silence_s for name in consumers if name in age_s)
        # Who has never reported (a foreign consumer) is not missed.
        lost = bool(age_s) and not readable
        return Standing(assignment=standing.assignment, settled=standing.settled and not silent and not lost)

    def _by_reports(self, heard: Mapping[str, Heard], age_s: Mapping[str, float], *, readable: bool) -> Standing:
        if not readable:
            return Standing(assignment=carried_over(self.last, self.partitions), settled=False)
        for name in [name for name, silent_s in age_s.items() if silent_s > self.source.lease_s]:
            self.reports.forget(name)
        uncertain = any(self.source.silence_s < silent_s <= self.source.lease_s for silent_s in age_s.values())
        return Standing(assignment=reported_standing(heard, self.partitions), settled=not uncertain)
