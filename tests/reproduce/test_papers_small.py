"""Small slices of the simulated papers: every claim is measured, and what must hold whatever the seed does."""

import pytest

from sluice.lab.library import data_folder, find_scenario
from sluice.lab.reproduce.library import find_papers
from sluice.lab.reproduce.paper import Setting, reproduce
from sluice.lab.reproduce.runner import Runner
from sluice.lab.reproduce.trial import Case, changed, run_cases


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


def test_workload_a_comes_out_as_published() -> None:
    a = find_scenario("workload-a")
    cases = {
        "tail": Case(scenario=a, policy="tail-binpack"),
        "linear": Case(scenario=a, policy="linear"),
        "over": Case(scenario=changed(a, group={"initial_consumers": 5}), policy="overprovision"),
    }
    with Runner(1) as runner:
        trials = run_cases(runner, cases, lambda _: 6)
    assert trials.sla("tail") == pytest.approx(97.4, abs=3.0)
    assert trials.cost("tail") == pytest.approx(30.21, rel=0.1)
    assert trials.sla("linear") == pytest.approx(94.7, abs=3.0)
    assert trials.cost("linear") == pytest.approx(25.5, rel=0.02)
    assert (trials.sla("over"), trials.cost("over")) == (100.0, 50.0)
