"""Topologies that cannot work are told when a scenario is read, in one line."""

from pathlib import Path

import pytest

from sluice.assembly.topology import build_topology
from sluice.cli.main import main
from sluice.lab.library import find_scenario

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
