"""What a run promised and kept: one promise for all events, or one for each path."""

from dataclasses import dataclass
from typing import Any

from sluice.assembly.loop import build_objective
from sluice.lab.outcome import Outcome
from sluice.model.codec import encode
from sluice.settings.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """`where` is empty if it was made for all events."""

    where: str
    sla_ratio: float
    events: int
    latency_s: float
    wanted_ratio: float

    @property
    def kept(self) -> bool:
        return self.sla_ratio >= self.wanted_ratio

    def in_words(self) -> str:
        return (
            f"{self.where}{self.sla_ratio:.2%} of {self.events:,} events within {self.latency_s:g} s: "
            f"objective of {self.wanted_ratio:.4g} {'kept' if self.kept else 'missed'}"
        )


def promises_of(scenario: Scenario, outcome: Outcome) -> tuple[Promise, ...]:
    """Where any path has an objective of its own every path is judged by itself, else all events together."""
    objective, row = build_objective(scenario), outcome.row
    if not objective.paths:
        latency_s, wanted = objective.latency_s, objective.sla_ratio
        return (
            Promise(where="", sla_ratio=row.sla_ratio, events=row.events, latency_s=latency_s, wanted_ratio=wanted),
        )
    return tuple(
        Promise(
            where=f"{' → '.join(path.stages)}: ",
            sla_ratio=path.sla_ratio,
            events=path.events,
            latency_s=path.objective_s,
            wanted_ratio=objective.along(path.stages).sla_ratio,
        )
        for path in outcome.paths
    )


def simulated(outcome: Outcome) -> dict[str, Any]:
    """The row, and how each path kept its objective."""
    paths = [{**encode(path), "sla_ratio": path.sla_ratio} for path in outcome.paths]
    return {**encode(outcome.row), "paths": paths}
