"""`sluice broker up|down|status`: a real Kafka on this machine, without containers."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the result to this file.")]


@app.command()
def up(
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port; a free one when left off.")] = None,
    data: Annotated[Path | None, typer.Option(help="Data folder; it is kept when the broker stops.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the data of the default folder too.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Start a broker, or say where the one that runs is."""
    from sluice.broker import install, record

    if not install.is_there():
        print(f"fetching Kafka {install.KAFKA_VERSION}, once", flush=True)
    found, started = record.up(data=data, port=port, keep=keep)
    print(f"broker {'started' if started else 'already runs'} at {found.bootstrap}, data in {found.data}")
    _write(json_file, {"running": True, "started": started, "bootstrap": found.bootstrap, "data": found.data})


@app.command()
def down(json_file: JsonFile = None) -> None:
    """Stop the broker."""
    from sluice.broker import record

    found = record.down()
    if found is None:
        print("no broker runs")
    else:
        print(
            f"broker at {found.bootstrap} stopped, data {'removed' if found.remove_data else f'kept in {found.data}'}"
        )
    _write(json_file, {"running": False, "stopped": found is not None})


@app.command()
def status(json_file: JsonFile = None) -> int:
    """Say whether the broker runs and answers; exit code 1 when it does not."""
    from sluice.broker import record
    from sluice.broker.server import answers

    found = record.running()
    if found is None:
        print("no broker runs; start one with 'sluice broker up'")
        _write(json_file, {"running": False})
        return 1
    ready = answers(found.bootstrap)
    print(f"broker at {found.bootstrap} {'answers' if ready else 'runs but does not answer'}, data in {found.data}")
    _write(json_file, {"running": True, "answers": ready, "bootstrap": found.bootstrap, "data": found.data})
    return 0 if ready else 1


def _write(json_file: Path | None, result: dict[str, object]) -> None:
    if json_file is not None:
        from sluice.cli.output import write_json

        write_json(json_file, result)
