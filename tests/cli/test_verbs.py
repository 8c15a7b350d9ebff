"""The verbs as a user calls them."""

import json
from pathlib import Path

import pytest

from sluice.cli.main import main
from sluice.control.journal import read_journal

SCENARIO = """
name = "ramp"
duration_s = 60
seeds = 2
policies = ["binpack", "hold"]
objective = { latency_s = 0.5, sla_ratio = 0.9 }
guards = { cooldown_s = 12 }

[topic]
partitions = 4
arrivals = { kind = "burst", period_s = 1.001, phase_s = 0.6 }
rate = { kind = "knots", points = [[0, 10], [30, 330], [60, 10]] }

[group]
service = { kind = "fixed", mean_s = 0.005 }
"""


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "ramp.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return str(path)


def test_simulate_exits_1_when_the_objective_is_missed(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", scenario, "--policy", "hold"]) == 1
    assert "missed" in capsys.readouterr().out
    assert main(["simulate", scenario, "--policy", "overprovision"]) == 0
    assert "kept" in capsys.readouterr().out


def test_simulate_takes_arguments_of_the_policy(scenario: str, tmp_path: Path) -> None:
    minutes = []
    for f_up in (0.9, 0.5):
        file = tmp_path / f"{f_up}.json"
        main(["simulate", scenario, "--policy", "binpack", "--set", f"f_up={f_up}", "--json", str(file)])
        minutes.append(json.loads(file.read_text())["replica_minutes"])
    assert minutes[0] < minutes[1]


def test_compare_writes_one_row_a_run(scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deep" / "rows.json"
    assert (
        main(["compare", scenario, "--json", str(file), "--seeds", "3", "--policy", "hold", "--policy", "linear"]) == 0
    )
    rows = json.loads(file.read_text())
    assert [(row["policy"], row["seed"]) for row in rows] == [(p, s) for p in ("hold", "linear") for s in range(3)]
    shown = capsys.readouterr().out
    assert "clairvoyant" in shown
    assert "mean of 3 runs" in shown


def test_explain_and_replay_a_journal(scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal, told = tmp_path / "j.jsonl", tmp_path / "told.json"
    assert main(["simulate", scenario, "--policy", "binpack", "--journal", str(journal)]) in (0, 1)
    capsys.readouterr()
    decisions = list(read_journal(journal))
    acted = [d for d in decisions if d.plan.action != "hold"]
    assert len(decisions) == 60
    assert acted

    assert main(["explain", str(journal), "--json", str(told)]) == 0
    words = capsys.readouterr().out
    explanations = json.loads(told.read_text())
    assert [e["tick"] for e in explanations] == [d.tick for d in acted]
    assert f"{len(decisions)} decisions, {len(acted)} actions" in words
    first = explanations[0]
    assert first["inputs"]["objective_latency_s"] == 0.5
    assert first["candidates"][0]["name"] == "stay"
    assert len(first["inputs"]["partitions"]) == 4

    assert main(["explain", str(journal), "--tick", "0"]) == 0
    assert "arrival rate unknown" in capsys.readouterr().out

    guarded = next(d for d in decisions if d.plan.guard == "cool-down")
    assert main(["explain", str(journal), "--tick", str(guarded.tick)]) == 0
    words = capsys.readouterr().out
    assert "cool-down overruled the policy" in words
    assert "wanted" in words

    # A policy replayed on its own journal changes nothing; with another cool-down or another policy it does.
    for same in (["--set", "cooldown_s=12"], ["--scenario", scenario]):
        assert main(["replay", str(journal), "--policy", "binpack", *same]) == 0
        assert "0 of 60 decisions differ" in capsys.readouterr().out.splitlines()
    assert main(["replay", str(journal), "--policy", "binpack"]) == 0
    assert "0 of 60 decisions differ" not in capsys.readouterr().out.splitlines()
    file = tmp_path / "replay.json"
    assert main(["replay", str(journal), "--policy", "linear", "--json", str(file)]) == 0
    replayed = json.loads(file.read_text())
    assert replayed["different"]
    assert [t["policy"] for t in replayed["totals"]] == ["binpack", "linear"]
    assert main(["replay", str(journal), "--policy", "hold"]) == 0
    assert f"{len(acted)} of 60 decisions differ" in capsys.readouterr().out


def test_demo_prints_a_table_and_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, rows = tmp_path / "demo.html", tmp_path / "rows.json"
    assert main(["demo", "--seeds", "1", "--report", str(report), "--json", str(rows)]) == 0
    shown = capsys.readouterr().out
    policies = {row["policy"] for row in json.loads(rows.read_text())}
    assert policies >= {"overprovision", "linear", "binpack", "tail-binpack"}
    assert all(policy in shown for policy in policies)
    page = report.read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "http" not in page.split("plotly.js v")[0]
