"""Writes the measured table of docs/policies.md: every policy on every workload.

Run from the project's root with the traces in ../shared/data: `python docs/policies_table.py`.
"""

from collections.abc import Sequence
from pathlib import Path

from sluice.errors import InputError
from sluice.lab.library import find_scenario, stand_ins
from sluice.lab.reproduce.runner import Runner
from sluice.lab.reproduce.trial import Case, Trials, run_cases

PAGE = Path(__file__).with_name("policies.md")
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
WORKLOADS = {"workload-a": 6, "workload-a-skewed": 6, "workload-b": 1, "worldcup": 6, "tweets": 1}
"""With how many seeds each is run: the long ones average over themselves."""
POLICIES = (
    "hold", "overprovision", "paper-optimal", "linear", "binpack", "tail-binpack", "keda", "flas", "mm1-buffer",
    "threshold", "gigk", "gigk-path", "ds2", "flink", "nfd", "ffd", "bfd", "mwf", "mbf", "mwfp", "mbfp",
)  # fmt: skip


def table(runner: Runner, policies: Sequence[str] = POLICIES) -> str:
    """Share in time, and replica-minutes, of each policy on each workload."""
    scenarios = {name: find_scenario(name) for name in WORKLOADS}
    for scenario in scenarios.values():
        if stand_ins(scenario):
            raise InputError(f"the table is made from recorded traces; {stand_ins(scenario)[0]} is not there")
    cases = {f"{w} {p}": Case(scenario=s, policy=p) for w, s in scenarios.items() for p in policies}
    trials = run_cases(runner, cases, lambda key: WORKLOADS[key.split()[0]])
    head = ["policy", *WORKLOADS]
    rows = [[f"`{p}`", *(_cell(trials, f"{w} {p}") for w in WORKLOADS)] for p in policies]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(trials: Trials, key: str) -> str:
    return f"{trials.sla(key):.1f} % / {trials.cost(key):.1f}"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    with Runner(2) as pool:
        made = table(pool)
    PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")
