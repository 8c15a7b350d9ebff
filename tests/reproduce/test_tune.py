"""The search: never worse than what is there, repeatable, and honest when nothing keeps the objective."""

import json
import tomllib
from pathlib import Path

import pytest

from sluice.cli.main import main
from sluice.lab.experiment import run
from sluice.lab.library import find_scenario
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
    assert chosen == json.loads(file.read_text())["chosen"]["arguments"]


KEDA = """
[policy.keda]
lagThreshold = 20
balancer = "range"
allowIdleConsumers = false
"""


def test_the_choice_pasted_back_gives_what_was_measured(tmp_path: Path) -> None:
    path, toml, file = written(tmp_path, 0.5), tmp_path / "chosen.toml", tmp_path / "tuned.json"
    plain = path.read_text()
    path.write_text(plain + KEDA)  # words, truth values and KEDA's own names are written back, too
    words = ["tune", str(path), "--policy", "keda", "--trials", "4", "--toml", str(toml), "--json", str(file)]
    assert main([*words, "--parameter", "lag_threshold", "--parameter", "scale_down_stabilization_s"]) == 0
    pasted = tomllib.loads(toml.read_text())["policy"]["keda"]
    assert (pasted["balancer"], pasted["allow_idle_consumers"]) == ("range", False)
    tuned = json.loads(file.read_text())
    assert pasted == tuned["chosen"]["arguments"] != tuned["before"]["arguments"]
    path.write_text(plain + toml.read_text())
    row = run(read_scenario(path), "keda", 0, bound=None, exact=False).row
    assert (row.sla_ratio, row.replica_minutes) == (tuned["chosen"]["sla_ratio"], tuned["chosen"]["replica_minutes"])


PATHS = """
name = "line"
duration_s = 60
seeds = 2
objective = { latency_s = 5.0, sla_ratio = 0.9 }

[topic]
partitions = 4
arrivals = { kind = "poisson" }
rate = { kind = "constant", eps = 12 }

[[group]]
name = "first"
service = { kind = "exponential", mean_s = 0.05 }
output = { name = "mid", partitions = 4 }

[[group]]
name = "second"
topics = ["mid"]
service = { kind = "exponential", mean_s = 0.05 }
"""
TIGHT = '\n[[path]]\nstages = ["first", "second"]\nlatency_s = 0.25\n'


def test_a_setting_is_judged_by_the_objectives_of_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loose, tight = tmp_path / "loose.toml", tmp_path / "tight.toml"
    loose.write_text(PATHS)
    tight.write_text(PATHS + TIGHT)
    with Runner(1) as runner:
        easy, hard = (
            tune(find_scenario(str(path)), "linear", trials=8, seeds=2, runner=runner, only=("f_up", "f_down"))
            for path in (loose, tight)
        )
    assert easy.kept
    assert [promise.where for promise in hard.chosen.promises] == ["first → second: "]
    (promise,) = hard.chosen.promises
    assert (promise.latency_s, promise.wanted_ratio) == (0.25, 0.9)
    # The same settings, and a promise twenty times as short: what is cheapest for five seconds does not keep it.
    assert hard.chosen.replica_minutes > easy.chosen.replica_minutes
    assert hard.kept == (promise.sla_ratio >= 0.9)
    main(["tune", str(tight), "--policy", "linear", "--trials", "2", "--seeds", "1"])
    assert "promised: first → second: 0.9 within 0.25 s" in capsys.readouterr().out


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
