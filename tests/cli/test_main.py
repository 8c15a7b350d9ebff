"""The command line as a whole: one line for a mistake, the right exit code, nothing heavy imported for the help."""

import subprocess
import sys
from types import ModuleType

import pytest
import typer

from sluice import __version__
from sluice.cli.main import main
from sluice.errors import InputError, UnavailableError


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"sluice {__version__}\n"


def test_no_words_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "Usage: sluice" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["simulat"], ["--nope"], ["\n"]])
def test_a_wrong_word_is_one_line_and_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("sluice: ")
    assert told.err.count("\n") == 1


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from sluice.cli.main import main; code = main(['--help']);"
        "heavy = {'numpy', 'numba', 'scipy', 'pydantic', 'rich', 'plotly', 'pyspark', 'pandas'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("raised", "code", "told"),
    [
        (InputError("f_up is 2; give a share"), 2, "sluice: f_up is 2; give a share\n"),
        (UnavailableError("no broker;\nstart one"), 2, "sluice: no broker; start one\n"),
        (KeyboardInterrupt(), 130, ""),
        (typer.Exit(1), 1, ""),
    ],
)
def test_what_a_verb_raises_becomes_an_exit_code(
    raised: BaseException, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> None:
        raise raised

    verb = ModuleType("sluice.cli.failing")
    vars(verb)["run"] = run
    monkeypatch.setitem(sys.modules, "sluice.cli.failing", verb)
    assert main(["failing"], {"failing": "fails"}) == code
    assert capsys.readouterr().err == told


def test_a_reader_that_leaves_early_is_no_error() -> None:
    words = [sys.executable, "-m", "sluice", "compare", "--help"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait() == 0


def test_module_and_command_are_the_same() -> None:
    done = subprocess.run([sys.executable, "-m", "sluice", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"sluice {__version__}\n")
