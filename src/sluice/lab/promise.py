"""What was promised and kept: one promise for all events, or one for each path."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from sluice.assembly.loop import build_objective
from sluice.lab.outcome import Outcome
from sluice.settings.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """`where` is empty if it was made for all events."""

    where: str
    sla_ratio: float
    """Share of events in time, in the mean over the runs."""
    events: int
    """Of all runs."""
    latency_s: float
    wanted_ratio: float

    @property
    def kept(self) -> bool:
        return self.spare >= 0

    @property
    def spare(self) -> float:
        """By how much it is kept; negative where it is broken."""
        return self.sla_ratio - self.wanted_ratio

    def in_words(self) -> str:
        return (
            f"{self.where}{self.sla_ratio:.2%} of {self.events:,} events within {self.latency_s:g} s: "
            f"objective of {self.wanted_ratio:.4g} {'kept' if self.kept else 'missed'}"
        )


def promises_of(scenario: Scenario, outcomes: Sequence[Outcome]) -> tuple[Promise, ...]:
    """Over runs of one policy. Where any path has an objective of its own every path is judged by itself, else all
    events together.
    """
    objective = build_objective(scenario)
    if not objective.paths:
        return (
            Promise(
                where="",
                sla_ratio=fmean(outcome.row.sla_ratio for outcome in outcomes),
                events=sum(outcome.row.events for outcome in outcomes),
                latency_s=objective.latency_s,
                wanted_ratio=objective.sla_ratio,
            ),
        )
    return tuple(
        Promise(
            where=f"{' → '.join(runs[0].stages)}: ",
            sla_ratio=fmean(path.sla_ratio for path in runs),
            events=sum(path.events for path in runs),
            latency_s=runs[0].objective_s,
            wanted_ratio=objective.along(runs[0].stages).sla_ratio,
        )
        for runs in zip(*(outcome.paths for outcome in outcomes), strict=True)
    )
