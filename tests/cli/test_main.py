"""The command line as a whole: one line for a mistake, the right exit code, nothing heavy imported for the help."""

import subprocess
import sys

import pytest

from sluice import __version__
from sluice.cli.main import main


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


def test_module_and_command_are_the_same() -> None:
    done = subprocess.run([sys.executable, "-m", "sluice", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"sluice {__version__}\n")
