"""The search: never worse than what is there, repeatable, and honest when nothing keeps the objective."""

import json
import tomllib
from pathlib import Path

import pytest

from sluice.cli.main import main
from sluice.lab.reproduce.runner import Runner
from sluice.lab.tune import SPACE, searched, tune
from sluice.plan.registry import policy_names
from sluice.settings.scenario import read_scenario

SCENARIO = """
name = "ramp"
duration_s = 60
seeds = 1
objective = {{ latency_s = 0.5, sla_ratio = {ratio} }}

[topic]
partitions = 4
arrivals = {{ kind = "burst", period_s = 1.001, phase_s = 0.6 }}
rate = {{ kind = "knots", points = [[0, 10], [30, 330], [60, 10]] }}

[group]
service = {{ kind = "fixed", mean_s = 0.005 }}

[policy.tail-binpack]
f_up = 0.5
"""


def written(folder: Path, ratio: float) -> Path:
    path = folder / "ramp.toml"
    path.write_text(SCENARIO.format(ratio=ratio), encoding="utf-8")
    return path


def test_the_choice_keeps_the_objective_at_no_more_cost_and_is_found_again(tmp_path: Path) -> None:
    scenario = read_scenario(written(tmp_path, 0.6))
    with Runner(1) as runner:
        first, again = (tune(scenario, "tail-binpack", trials=12, seeds=1, runner=runner) for _ in range(2))
    assert first == again
    assert first.kept
    assert first.chosen.sla_ratio >= 0.6
    assert first.before.arguments == {"f_up": 0.5}
    assert first.chosen.replica_minutes <= first.before.replica_minutes
    costs = [setting.replica_minutes for setting in first.front]
    shares = [setting.sla_ratio for setting in first.front]
    assert costs == sorted(costs)
    assert shares == sorted(shares)


def test_what_must_stay_below_another_one_does(tmp_path: Path) -> None:
    scenario = read_scenario(written(tmp_path, 0.6))
    with Runner(1) as runner:
        found = tune(scenario, "tail-binpack", trials=6, seeds=1, runner=runner, only=("f_up", "f_down"))
    for setting in found.front:
        if "f_down" in setting.arguments:
            assert 0 < float(str(setting.arguments["f_down"])) < float(str(setting.arguments["f_up"])) < 1


def test_the_verb_writes_settings_that_can_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toml, file = tmp_path / "chosen.toml", tmp_path / "tuned.json"
    words = ["tune", str(written(tmp_path, 0.6)), "--trials", "3", "--toml", str(toml), "--json", str(file)]
    assert main([*words, "--parameter", "f_up"]) == 0
    assert "as it was" in capsys.readouterr().out
    chosen = tomllib.loads(toml.read_text())["policy"]["tail-binpack"]
    assert chosen["f_up"] == pytest.approx(json.loads(file.read_text())["chosen"]["arguments"]["f_up"], abs=1e-4)


def test_an_objective_nothing_keeps_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(written(tmp_path, 1.0)), "--trials", "2", "--policy", "linear"]) == 1
    assert "comes closest" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policy", "linar"], "did you mean 'linear'?"),
        (["--policy", "hold", "--parameter", "f_up"], "is not searched"),
    ],
)
def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["tune", str(written(tmp_path, 0.6)), *words]) == 2
    assert message in capsys.readouterr().err


def test_every_policy_but_the_fixed_ones_has_something_to_search() -> None:
    for name in policy_names():
        assert set(searched(name)) <= set(SPACE)
        assert searched(name), name
