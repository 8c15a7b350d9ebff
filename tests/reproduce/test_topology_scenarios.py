"""What cannot work is told when a scenario is read, in one line; what turns out so later is a verdict, no error."""

import re
from pathlib import Path

import pytest
from tests.simulate.scripted import Kept

from sluice.assembly.topology import build_topology
from sluice.cli.main import main
from sluice.lab.experiment import run
from sluice.lab.library import find_scenario
from sluice.plan.registry import policy_names

HEAD = """
name = "stages"
duration_s = 60
policies = ["hold"]
objective = {{ latency_s = {latency_s} }}

[topic]
name = "in"
partitions = 1
arrivals = {{ kind = "even" }}
rate = {{ kind = "constant", eps = 1 }}
"""
STAGE = """
[[group]]
name = "{name}"
topics = ["{reads}"]
service = {{ kind = "fixed", mean_s = 0.1 }}
output = {{ name = "{writes}", partitions = 1 }}
"""


def stages(folder: Path, *rows: tuple[str, str, str], latency_s: float = 1.0) -> str:
    text = HEAD.format(latency_s=latency_s) + "".join(STAGE.format(name=n, reads=r, writes=w) for n, r, w in rows)
    path = folder / "stages.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_topology_has_the_paths_the_topics_make(tmp_path: Path) -> None:
    word = stages(tmp_path, ("a", "in", "mid"), ("b", "mid", "out"), ("c", "in", "side"))
    assert build_topology(find_scenario(word)).paths == (("c",), ("a", "b"))


@pytest.mark.parametrize(
    ("rows", "latency_s", "message"),
    [
        ([("a", "in", "mid"), ("b", "loop", "back"), ("c", "back", "loop")], 1.0, "b, c feed each other in a circle"),
        ([("a", "in", "mid"), ("b", "nowhere", "out")], 1.0, "topics names 'nowhere', which nobody writes"),
        ([("a", "in", "mid"), ("b", "mid", "out")], 0.2, "service alone takes 0.2 s along a → b"),
        ([("a", "in", "mid")], 0.05, "no number of consumers keeps it"),
    ],
)
def test_what_cannot_work_is_told_at_load_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[tuple[str, str, str]], latency_s: float, message: str
) -> None:
    assert main(["simulate", stages(tmp_path, *rows, latency_s=latency_s), "--policy", "hold"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1


def test_an_objective_just_above_the_service_time_is_good(tmp_path: Path) -> None:
    assert find_scenario(stages(tmp_path, ("a", "in", "mid"), ("b", "mid", "out"), latency_s=0.21)).name == "stages"


SLOW = """
name = "slow"
duration_s = 60
objective = { latency_s = 0.5, sla_ratio = 0.5 }

[topic]
partitions = 6
arrivals = { kind = "poisson" }
rate = { kind = "constant", eps = 4 }

[group]
service = { kind = "lognormal", mean_s = 0.45, cv = 2.0 }

[analyze]
window_s = 2
service_window_s = 3
"""


@pytest.mark.parametrize("policy", policy_names())
def test_service_that_becomes_slower_than_the_objective_is_a_bound_and_a_verdict(tmp_path: Path, policy: str) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(SLOW, encoding="utf-8")
    journal = Kept()
    run(find_scenario(str(path)), policy, 0, bound=None, sink=journal)
    slow = [d for d in journal if d.workload.service_eps is not None and d.workload.service_eps <= 2.0]
    assert 0 < len(slow) < len(journal)
    for decision in journal:
        told = any("no number of consumers keeps the objective" in str(w) for w in decision.plan.warnings)
        assert told == (decision in slow), decision.tick
        assert decision.plan.target.count <= 6


def test_simulate_shows_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(SLOW, encoding="utf-8")
    assert main(["simulate", str(path), "--policy", "tail-binpack"]) == 1
    assert re.search(r"warned at \d+ of 60 decisions: service alone takes .* s; bounded at \d", capsys.readouterr().out)
