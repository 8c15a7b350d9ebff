"""`sluice demo`: the policies side by side on workload A, with a report."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each policy, each with another starting phase.")] = 4,
    report: Annotated[Path, typer.Option(help="Where the report goes.")] = Path("out/demo.html"),
    json: Annotated[Path | None, typer.Option(help="Write one row a run as JSON to this file.")] = None,
) -> None:
    """Compare the policies on ten minutes of rising and falling bursts, print a table and write a report."""
    from sluice.cli.comparing import compare_and_show
    from sluice.lab.library import find_scenario

    compare_and_show([find_scenario("workload-a")], (), seeds=seeds, json_file=json, report_file=report)
