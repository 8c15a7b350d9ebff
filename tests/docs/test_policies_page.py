"""The page on policies: nobody is missing, and each section has its four parts."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from sluice.lab.library import packaged_names
from sluice.plan.registry import BUILT_IN

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "policies.md").read_text(encoding="utf-8")
SECTIONS = {
    name: text for head, text in re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", PAGE, re.M) for name in head.split()
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("policies_table", DOCS / "policies_table.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("policy", BUILT_IN)
def test_a_policy_has_idea_formula_use_and_its_measured_row(policy: str) -> None:
    text = SECTIONS[policy]
    for part in ("- **Idea.** ", "- **Formula.** ", "- **Use it** "):
        assert part in text
    # The row is the table's own.
    row = re.search(rf"^\| `{policy}` \|.*%.*$", SECTIONS["Measured"], re.M)
    assert row is not None
    assert row[0] in text.splitlines()


def test_the_table_has_every_workload_and_can_be_written_again(script: ModuleType) -> None:
    head = re.search(r"^\| policy \|.*$", PAGE, re.M)
    assert head is not None
    assert head[0].strip("| ").split(" | ")[1:] == list(script.WORKLOADS)
    # What is left is one queue at a constant rate, to hold against its closed form: there is nothing to scale.
    assert set(packaged_names()) - set(script.WORKLOADS) == {"single-queue"}
    cells = {name: dict.fromkeys(script.WORKLOADS, "1 % / 2") for name in BUILT_IN}
    once = script.written(PAGE, cells)
    assert once.count("1 % / 2") == 2 * len(BUILT_IN) * len(script.WORKLOADS)
    assert script.written(once, cells) == once
