"""Small slices of the simulated papers: every claim is measured, and what must hold whatever the seed does."""

import pytest

from sluice.lab.library import data_folder
from sluice.lab.reproduce.library import find_papers
from sluice.lab.reproduce.paper import Setting, reproduce
from sluice.lab.reproduce.runner import Runner


@pytest.mark.parametrize(
    ("name", "sure"),
    [
        ("queue-buffer", ("proposed: throughput", "better than KEDA: mean time, proposed → KEDA")),
        (
            "dataflow",
            (
                "threshold: fewest instances",
                "latency: queueing < DS2 < threshold",
                "instances: threshold < DS2 < queueing",
            ),
        ),
    ],
)
def test_one_seed_measures_every_claim(name: str, sure: tuple[str, ...]) -> None:
    (paper,) = find_papers([name])
    with Runner(1) as runner:
        done = reproduce(paper, Setting(data=data_folder(), runner=runner, seeds=1))
    assert len(done.verdicts) == len(paper.claims)
    assert set(sure) <= {verdict.claim for verdict in done.verdicts if verdict.holds}
    assert all(verdict.note for verdict in done.verdicts if not verdict.holds)
    assert done.findings.figures
