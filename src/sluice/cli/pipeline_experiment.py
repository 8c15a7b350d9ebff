"""`sluice pipeline experiment`: a grid of simulations over executors."""

from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.pipeline_options import JsonFile, Master, Memory, spark
from sluice.errors import InputError


def run(
    scenarios: Annotated[list[str], typer.Argument(help="Scenario files, or names of those that come with Sluice.")],
    out: Annotated[str, typer.Option(help="Folder of the results; finished cells in it are not run again.")],
    policy: Annotated[list[str] | None, typer.Option(help="May be repeated. Default: the scenario's.")] = None,
    grid: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE[,VALUE]: values of a policy's parameter; repeatable.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of each combination. Default: the scenario's.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder with trace files.")] = None,
    master: Master = None,
    memory: Memory = None,
    json_file: JsonFile = None,
) -> None:
    """Run policies x scenarios x parameters x seeds; interrupted, it goes on where it stopped."""
    from sluice.cli.arguments import parse_arguments
    from sluice.cli.output import write_json
    from sluice.cli.progress import progress
    from sluice.lab.library import find_scenario
    from sluice.pipeline.experiment.grid import cells_of
    from sluice.pipeline.experiment.job import run_experiment

    values = {}
    for word in grid or ():
        key, equals, listed = word.partition("=")
        if not equals:
            raise InputError(f"--grid {word!r} is not KEY=VALUE[,VALUE] (example: --grid f_up=0.8,0.9)")
        values[key] = [parse_arguments([f"{key}={value}"])[key] for value in listed.split(",")]
    cells = cells_of([find_scenario(word, data) for word in scenarios], tuple(policy or ()), values, seeds)
    with spark("experiment", master, memory) as session:
        with progress("cells", len(cells), steps=True) as advance:
            table = run_experiment(session, cells, out, on_done=advance)
        rows = [row.asDict() for row in table.collect()]
    print(f"{len(rows)} runs in {out}/table")
    if json_file is not None:
        write_json(json_file, rows)
