"""Small slices of the simulated papers: every claim is measured, and what must hold whatever the seed does."""

import pytest

from sluice.lab.library import data_folder
from sluice.lab.reproduce.library import find_papers
from sluice.lab.reproduce.paper import Setting, reproduce
from sluice.lab.reproduce.runner import Runner


@pytest.mark.parametrize("name", ["queue-buffer", "dataflow"])
def test_one_seed_measures_every_claim(name: str) -> None:
    (paper,) = find_papers([name])
    with Runner(1) as runner:
        done = reproduce(paper, Setting(data=data_folder(), runner=runner, seeds=1))
    assert len(done.verdicts) == len(paper.claims)
    assert done.held >= len(paper.claims) // 3
    assert all(verdict.note for verdict in done.verdicts if not verdict.holds)
    assert done.findings.figures


def test_the_orders_of_the_dataflow_paper_hold_for_any_seed() -> None:
    (paper,) = find_papers(["dataflow"])
    with Runner(1) as runner:
        done = reproduce(paper, Setting(data=data_folder(), runner=runner, seeds=2))
    orders = [verdict for verdict in done.verdicts if verdict.claim.startswith(("latency:", "instances:"))]
    assert len(orders) == 2
    assert all(verdict.holds for verdict in orders)
