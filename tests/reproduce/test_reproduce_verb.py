"""`sluice reproduce` as a user calls it."""

import json
from pathlib import Path

import pytest

from sluice.cli.main import main
from sluice.cli.output import write_json
from sluice.lab.reproduce.claim import Claim, Rule
from sluice.lab.reproduce.figure import Figure, box, cdf, line
from sluice.lab.reproduce.library import PAPERS, find_papers
from sluice.lab.reproduce.page import reproduction_html
from sluice.lab.reproduce.paper import Findings, Paper, Setting, reproduce
from sluice.lab.reproduce.runner import Runner

FIELDS = {"paper", "claim", "published", "measured", "holds", "note"}
SMALL = Paper(
    name="small",
    title="A paper of two claims",
    claims=(
        Claim(key="a", text="x < y & z", published=1.0, unit="s"),
        Claim(key="b", text="front", published=("mwf",), rule=Rule.AMONG, why="it <b>is</b> so"),
    ),
    run=lambda setting: Findings(
        measured={"a": 1.05, "b": ("bfd", "ffd")},
        figures=(
            Figure(title="curve", traces=(line("one", range(2000), range(2000)), cdf("two", [0.1], [0.5]))),
            Figure(title="boxes", traces=(box("three", [1.0, 2.0, 3.0]),)),
        ),
        sources=("drawn",),
    ),
)


def test_a_reproduction_as_json_and_page(tmp_path: Path) -> None:
    with Runner(1) as runner:
        done = reproduce(SMALL, Setting(data=tmp_path, runner=runner))
    assert done.held == 1
    file = tmp_path / "out.json"
    write_json(file, done.verdicts)
    records = json.loads(file.read_text())
    assert all(set(record) >= FIELDS for record in records)
    assert records[1]["measured"] == ["bfd", "ffd"]
    page = reproduction_html([done])
    assert page.lower().startswith("<!doctype html>")
    assert "1 of 2 claims hold." in page
    assert "it <b>is</b> so" not in page


def test_every_paper_is_found_and_its_claims_are_told_apart() -> None:
    papers = find_papers(["all"])
    assert tuple(paper.name for paper in papers) == PAPERS
    for paper in papers:
        texts = [claim.text for claim in paper.claims]
        assert len(set(texts)) == len(texts)
    assert [paper.name for paper in find_papers(["packing", "packing"])] == ["packing"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce", "packng"], "did you mean 'packing'?"),
        (["reproduce", "packing", "--data", "/no/such/folder"], "is no folder"),
        (["reproduce", "packing", "--json", "/dev/null/x.json"], "cannot be written"),
    ],
)
def test_mistakes_are_told_before_anything_runs(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1
