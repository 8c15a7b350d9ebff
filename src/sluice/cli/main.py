"""The command `sluice`: finds the verb, turns our errors into one line and an exit code.

Exit codes: 0 done, 1 objective missed, 2 bad input or a missing service, 130 interrupted.

To add a verb: a file `cli/<verb>.py` with a typer function `run`, or with a typer app `app` where the verb has verbs
of its own, and one line in VERBS. A verb returns nothing (0) or its exit code.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated

import typer

from sluice import __version__
from sluice.errors import SluiceError

VERBS: Mapping[str, str] = {
    "demo": "Compare the policies on workload A and write a report.",
    "simulate": "Run one policy on one scenario.",
    "compare": "Run several policies on one or more scenarios.",
    "pack": "Compare packers on a stream of partition sizes.",
    "reproduce": "Run the published evaluations again, claim by claim.",
    "tune": "Search a policy's parameters for the cheapest setting that keeps the objective.",
    "explain": "Say why a recorded decision was taken.",
    "replay": "Plan a recorded history again with another policy.",
    "run": "Watch live groups, recommend, and with --act carry it out.",
    "pipeline": "Bulk data work on Spark: traces, telemetry, latency, experiments, forecasts.",
    "bench": "Replay a scenario in real time on a real broker, beside the simulator's prediction.",
    "broker": "Start and stop a real Kafka on this machine.",
}
"""Name → what `sluice --help` says of it. Only the verb that is called is imported."""


def main(argv: Sequence[str] | None = None, verbs: Mapping[str, str] = VERBS) -> int:
    """Run one command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    try:
        code = typer.main.get_command(_app(words, verbs))(words, prog_name="sluice", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`, a pager) has gone: what is still buffered must not be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (typer.TyperException, SluiceError) as error:
        text = error.format_message() if isinstance(error, typer.TyperException) else str(error)
        print("sluice:", " ".join(text.split()), file=sys.stderr)
        return 2
    except SystemExit:
        return 0  # so typer leaves when the reader has gone while a verb still prints
    except (KeyboardInterrupt, typer.Abort):
        return 130
    return code if isinstance(code, int) else 0


def _app(words: Sequence[str], verbs: Mapping[str, str]) -> typer.Typer:
    app = typer.Typer(add_completion=False, rich_markup_mode=None, callback=_sluice)
    called = next((word for word in words if not word.startswith("-")), None)
    for verb, summary in verbs.items():
        if verb != called:
            app.command(verb, help=summary)(_not_called)
            continue
        module = import_module(f"sluice.cli.{verb.replace('-', '_')}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=verb, help=summary)
        else:
            app.command(verb)(module.run)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"sluice {__version__}")
        raise typer.Exit


def _sluice(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """The fewest consumers that keep an event queue inside its latency objective."""


def _not_called() -> None:
    """Stands for a verb whose file is not needed to show the list of verbs."""
