"""`sluice compare`: several policies on one or more scenarios."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sluice.lab.compare import Each


class Engine(StrEnum):
    LOCAL = "local"
    SPARK = "spark"


def run(
    scenarios: Annotated[list[str], typer.Argument(help="Scenario files, or names of those that come with Sluice.")],
    policy: Annotated[list[str] | None, typer.Option(help="May be repeated. Default: the scenario's.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of each policy. Default: the scenario's.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    engine: Annotated[Engine, typer.Option(help="What runs them: processes of this machine, or Spark.")] = Engine.LOCAL,
    master: Annotated[str | None, typer.Option(help="Where Spark runs.  [local[*]]")] = None,
    json: Annotated[Path | None, typer.Option(help="Write one row a run as JSON to this file.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder with trace files.")] = None,
    step_s: Annotated[float, typer.Option(help="Step of the clairvoyant bound.")] = 1.0,
) -> None:
    """Run policies side by side and say what each keeps and costs."""
    from sluice.cli.comparing import compare_and_show
    from sluice.lab.library import find_scenario

    chosen = [find_scenario(word, data) for word in scenarios]
    with _engine(engine, master) as each:
        compare_and_show(
            chosen,
            tuple(policy or ()),
            seeds=seeds,
            jobs=jobs,
            step_s=step_s,
            json_file=json,
            report_file=report,
            each=each,
        )


@contextmanager
def _engine(engine: Engine, master: str | None) -> "Iterator[Each | None]":
    if engine is Engine.LOCAL:
        yield None
        return
    from sluice.cli.pipeline_options import spark
    from sluice.pipeline.experiment.engine import SparkEngine

    with spark("compare", master) as session:
        yield SparkEngine(session)
