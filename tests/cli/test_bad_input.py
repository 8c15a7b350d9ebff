"""Every kind of bad input: one clear line on stderr, exit 2, no traceback."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sluice.cli.main import main

SCENARIO = """
name = "small"
duration_s = 20
policies = ["binpack"]

[objective]
latency_s = 0.5

[topic]
partitions = 3

[topic.arrivals]
kind = "even"

[topic.rate]
kind = "constant"
eps = 100

[group]
initial_consumers = 1

[group.service]
kind = "fixed"
mean_s = 0.005
"""

Told = Callable[[list[str]], str]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Runs a command line that must fail and gives its one line."""

    def run(words: list[str]) -> str:
        assert main(words) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert captured.err.startswith("sluice: ")
        return captured.err

    return run


def scenario(folder: Path, old: str = "", new: str = "") -> str:
    assert old in SCENARIO
    path = folder / "small.toml"
    path.write_text(SCENARIO.replace(old, new, 1), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("journal")
    path = folder / "j.jsonl"
    code = main(["simulate", scenario(folder), "--policy", "binpack", "--journal", str(path)])
    assert code in (0, 1)
    return path


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("eps = 100", "eps = -100", "topic.rate.eps is -100"),
        ("eps = 100", "eps = nan", "topic.rate.eps is nan"),
        ("partitions = 3", "partitions = 0", "topic.partitions is 0"),
        ("initial_consumers = 1", "initial_consumers = 0", "group.initial_consumers is 0"),
        ("initial_consumers = 1", "topics = []\ninitial_consumers = 4", "more consumers than the 3 partitions"),
        ("mean_s = 0.005", "mean_s = 0.0", "group.service.mean_s is 0"),
        ("mean_s = 0.005", "mean_s = inf", "group.service.mean_s is inf"),
        ("[group]", "[policy.binpack]\nf_up = 0.4\nf_down = 0.9\n[group]", "f_up is 0.4 and f_down is 0.9"),
        ("[group]", "[policy.binpack]\nf_up = 0.4\nf_down = 0.4\n[group]", "give 0 < f_down < f_up < 1"),
        ("[group]", "[policy.binpack]\nfup = 0.4\n[group]", "did you mean 'f_up'?"),
        ("[group]", "[policy.binpak]\nf_up = 0.8\n[group]", "did you mean 'binpack'?"),
        ("[group]", "[guards]\ncooldwn_s = 1\n[group]", "did you mean 'cooldown_s'?"),
        ("[group]", "[guards]\nmin_consumers = 3\nmax_consumers = 2\n[group]", "max_consumers is 2"),
        ("duration_s = 20", "duration = 20", "unknown key duration; did you mean 'duration_s'?"),
        ("duration_s = 20", "duration_s = = 20", "line 3"),
        ("duration_s = 20", "duration_s = 20\nduration_s = 30", "line 4"),
    ],
)
def test_a_scenario_that_cannot_be_used(tmp_path: Path, told: Told, old: str, new: str, expected: str) -> None:
    path = scenario(tmp_path, old, new)
    for words in (["compare", path], ["simulate", path, "--policy", "binpack"]):
        line = told(words)
        assert expected in line
        assert "small.toml" in line


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "has no rows"),
        ("time,rate\n", "has no rows"),
        ("5\nfive\n", "line 2: 'five' is not a number"),
        ("-1\n", "no rate"),
    ],
)
def test_a_trace_that_cannot_be_used(tmp_path: Path, told: Told, content: str, expected: str) -> None:
    (tmp_path / "trace.csv").write_text(content)
    line = told(["compare", scenario(tmp_path, 'kind = "constant"\neps = 100', 'kind = "trace"\nfile = "trace.csv"')])
    assert expected in line
    assert "trace.csv" in line


def test_a_trace_that_is_not_there(tmp_path: Path, told: Told) -> None:
    line = told(["compare", scenario(tmp_path, 'kind = "constant"\neps = 100', 'kind = "trace"\nfile = "no.csv"')])
    assert "no.csv cannot be read" in line


def test_a_scenario_that_is_not_there(tmp_path: Path, told: Told) -> None:
    assert "did you mean 'workload-a'?" in told(["compare", "worklod-a"])
    assert "no file" in told(["simulate", str(tmp_path / "x.toml"), "--policy", "hold"])
    assert "not UTF-8" in told(["compare", _bytes(tmp_path / "b.toml", b"name = '\xff'")])


def test_an_unknown_policy_suggests_the_nearest(tmp_path: Path, told: Told, journal: Path) -> None:
    path = scenario(tmp_path)
    for words in (
        ["simulate", path, "--policy", "tail-binpak"],
        ["compare", path, "--policy", "tail-binpak"],
        ["replay", str(journal), "--policy", "tail-binpak"],
    ):
        assert "did you mean 'tail-binpack'?" in told(words)


def test_wrong_options(tmp_path: Path, told: Told) -> None:
    path = scenario(tmp_path)
    told(["compare"])
    told(["compare", path, "--seeds", "0"])
    told(["compare", path, "--seeds", "many"])
    told(["compare", path, "--jobs", "0"])
    told(["compare", path, "--step-s", "0"])
    told(["compare", path, "--step-s", "nan"])
    told(["compare", path, "--data", str(tmp_path / "nowhere")])
    told(["compare", path, "--json", str(tmp_path)])
    told(["simulate", path])
    told(["simulate", path, "--policy", "binpack", "--set", "f_up"])
    told(["simulate", path, "--policy", "binpack", "--set", "f_up=big"])
    assert "f_down" in told(["simulate", path, "--policy", "binpack", "--set", "f_up=0.1"])


def test_a_journal_that_is_there_already_is_not_touched(told: Told, journal: Path, tmp_path: Path) -> None:
    before = journal.read_bytes()
    assert "there already" in told(["simulate", scenario(tmp_path), "--policy", "hold", "--journal", str(journal)])
    assert journal.read_bytes() == before


def test_a_journal_cut_at_the_end_is_read_without_the_torn_line(
    journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(journal.read_bytes()[:-40])
    assert main(["explain", str(journal)]) == 0
    whole = capsys.readouterr().out
    assert main(["explain", str(cut)]) == 0
    assert "20 decisions" in whole
    assert "19 decisions" in capsys.readouterr().out


def test_a_journal_cut_in_the_middle_names_the_line(journal: Path, tmp_path: Path, told: Told) -> None:
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4][:100] + b"\n"
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"".join(lines))
    for words in (["explain", str(broken)], ["replay", str(broken), "--policy", "hold"]):
        assert "line 5" in told(words)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]\n",
        b"{}\n",
        b'{"partitions": ["a"]}\n',
        b"\xff\xfe\n",
        b'{"partitions": [], "tick": 1}\n',
        b"null\n",
    ],
)
def test_something_that_is_no_journal(tmp_path: Path, told: Told, content: bytes) -> None:
    path = _bytes(tmp_path / "j.jsonl", content)
    told(["explain", path])
    told(["replay", path, "--policy", "hold"])


def test_a_journal_that_is_not_there_and_a_tick_that_never_was(tmp_path: Path, told: Told, journal: Path) -> None:
    assert "cannot be read" in told(["explain", str(tmp_path / "none.jsonl")])
    assert "from 0 to 19" in told(["explain", str(journal), "--tick", "20"])
    assert "knows no group 'grp'; did you mean 'group'?" in told(["explain", str(journal), "--group", "grp"])
    told(["replay", str(journal), "--policy", "hold", "--latency-s", "0"])


def test_the_real_command_prints_no_traceback(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sluice", "compare", scenario(tmp_path, "eps = 100", "eps = -1")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr


def _bytes(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)
