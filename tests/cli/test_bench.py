"""`sluice bench`: what cannot be is one line, before anything is started."""

from pathlib import Path

import pytest

from sluice.cli.main import main

TWO = """
name = "two"
duration_s = 10
objective = { latency_s = 0.5 }
topic = { name = "in", partitions = 2, arrivals = { kind = "mmpp", states_eps = [1, 9], mean_dwell_s = [1, 1] } }

[[group]]
name = "one"
service = { kind = "fixed", mean_s = 0.005 }
"""
SECOND = """
[[group]]
name = "other"
service = { kind = "fixed", mean_s = 0.005 }
"""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["workload-a", "--policy", "tail-binpak"], "tail-binpack"),
        (["workload-z"], "is no file"),
        (["workload-a", "--mode", "manged"], "mode is 'manged'"),
        (["workload-a", "--assignor", "range"], "--mode group"),
        (["workload-a", "--mode", "group", "--assignor", "rang"], "range"),
        (["workload-a", "--mode", "group", "--assignor", "range", "--rebalance", "cooperative"], "range is eager"),
        (["workload-a", "--compress", "0"], "compress"),
        (["workload-a", "--json", "/dev/null/x"], "cannot be written"),
        (["{mmpp}", "--compress", "2"], "only those with a rate curve"),
        (["{groups}"], "2 groups; a live run replays one"),
        (["workload-a", "--bootstrap", "127.0.0.1:1"], "127.0.0.1:1"),
    ],
)
def test_bad_input_of_live(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {"{mmpp}": tmp_path / "mmpp.toml", "{groups}": tmp_path / "groups.toml"}
    places["{mmpp}"].write_text(TWO)
    places["{groups}"].write_text(TWO + SECOND)
    assert main(["bench", "live", *(str(places.get(word, word)) for word in words)]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.startswith("sluice: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["response", "--policy", "keda"], "does not pack bytes"),
        (["response", "--measurements", "nowhere.json"], "cannot be read"),
        (["capacity", "--partitions", "1,x"], "partitions is '1,x'"),
        (["capacity", "--sizes", "0"], "sizes is '0'"),
        (["capacity", "--seconds", "0.5"], "three batches"),
    ],
)
def test_bad_input_of_the_others(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *words]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1
