"""Writes what was measured into docs/policies.md: the table of every policy on every workload, and each policy's row.

Run from the project's root with the traces in ../shared/data: `python docs/policies_table.py`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sluice.errors import InputError
from sluice.lab.library import find_scenario, stand_ins
from sluice.lab.reproduce.runner import Runner
from sluice.lab.reproduce.trial import Case, run_cases
from sluice.plan.registry import BUILT_IN

PAGE = Path(__file__).with_name("policies.md")
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
# A section's marker names its policies; the table after it is theirs.
SECTION = re.compile(r"<!-- measured: ([^>]+) -->\n(?:\n(?:\|.*\n)+)?")
WORKLOADS = {
    "workload-a": 6,
    "workload-a-skewed": 6,
    "workload-a-tr05": 6,
    "workload-a-tr2": 6,
    "workload-b": 1,
    "worldcup": 6,
    "tweets": 1,
    "image-functions": 6,
}
"""With how many seeds each is run: the long ones average over themselves."""
Cells = Mapping[str, Mapping[str, str]]
"""By policy, then workload."""


def measured(runner: Runner, policies: Sequence[str] = tuple(BUILT_IN)) -> Cells:
    """Share in time, and replica-minutes."""
    scenarios = {name: find_scenario(name) for name in WORKLOADS}
    for scenario in scenarios.values():
        if stand_ins(scenario):
            raise InputError(f"the table is made from recorded traces; {stand_ins(scenario)[0]} is not there")
    cases = {f"{w} {p}": Case(scenario=s, policy=p) for w, s in scenarios.items() for p in policies}
    trials = run_cases(runner, cases, lambda key: WORKLOADS[key.split()[0]])
    return {
        p: {w: f"{trials.sla(f'{w} {p}'):.1f} % / {trials.cost(f'{w} {p}'):.1f}" for w in WORKLOADS} for p in policies
    }


def written(page: str, cells: Cells) -> str:
    """The page with these cells in its table and in its sections."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    page = f"{before}{BEGIN}\n{_table(['policy', *WORKLOADS], [(p, cells[p]) for p in cells])}\n{END}{after}"
    return SECTION.sub(lambda found: _rows(found[1].split(), cells), page)


def _rows(policies: Sequence[str], cells: Cells) -> str:
    head = ["measured", *WORKLOADS]
    return f"<!-- measured: {' '.join(policies)} -->\n\n{_table(head, [(p, cells[p]) for p in policies])}\n"


def _table(head: Sequence[str], rows: Sequence[tuple[str, Mapping[str, str]]]) -> str:
    lines = [head, ["---"] * len(head), *([f"`{name}`", *row.values()] for name, row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    with Runner(2) as pool:
        found = measured(pool)
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
