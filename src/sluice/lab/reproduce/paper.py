"""A paper: its claims, and how they are measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sluice.lab.reproduce.claim import Claim, Measured, Verdict, judge
from sluice.lab.reproduce.figure import Figure
from sluice.lab.reproduce.runner import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How much is run; tests run less of the same."""

    data: Path
    """Folder of the recorded traces."""
    runner: Runner
    seeds: int | None = None
    """None: as many as each paper needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the runs of a paper came to."""

    measured: Mapping[str, Measured]
    figures: tuple[Figure, ...]
    sources: tuple[str, ...]
    """Where each load comes from: recorded, or fitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """`name` is what `sluice reproduce` is called with."""

    name: str
    title: str
    claims: tuple[Claim, ...]
    run: Callable[[Setting], Findings]
    choices: tuple[str, ...] = ()
    """What the paper leaves open, and what we chose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """A paper with its verdicts."""

    paper: Paper
    findings: Findings
    verdicts: tuple[Verdict, ...]

    @property
    def held(self) -> int:
        return sum(verdict.holds for verdict in self.verdicts)


def reproduce(paper: Paper, setting: Setting) -> Reproduced:
    """Run a paper's evaluation and judge its claims."""
    findings = paper.run(setting)
    return Reproduced(paper=paper, findings=findings, verdicts=judge(paper.name, paper.claims, findings.measured))
