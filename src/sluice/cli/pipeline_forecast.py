"""`sluice pipeline forecast`: a short-horizon model for each partition, from the lake."""

from typing import Annotated

import typer

from sluice.cli.pipeline_options import JsonFile, Master, Memory, Overwrite, spark


def run(
    lake: Annotated[str, typer.Argument(help="Folder of the lake that `pipeline telemetry` fills.")],
    out: Annotated[str, typer.Option(help="Folder the model table is published to.")],
    step_s: Annotated[int, typer.Option(help="Seconds of one step of the series.")] = 10,
    horizon_s: Annotated[int, typer.Option(help="How far ahead.")] = 30,
    season_s: Annotated[int | None, typer.Option(help="What the load repeats after, such as 86400.")] = None,
    reach_s: Annotated[int, typer.Option(help="How far back a model may look.")] = 600,
    overwrite: Overwrite = False,
    master: Master = None,
    memory: Memory = None,
    json_file: JsonFile = None,
) -> None:
    """Train, judge against naive and seasonal-naive forecasts, and keep the best of each partition."""
    from sluice.cli.output import console, write_json
    from sluice.pipeline.forecast.job import write_models
    from sluice.pipeline.forecast.train import ForecastSpec

    spec = ForecastSpec(step_s=step_s, horizon_s=horizon_s, season_s=season_s, reach_s=reach_s)
    with spark("forecast", master, memory) as session:
        rows = [row.asDict() for row in write_models(session, lake, out, spec, overwrite=overwrite).collect()]
    better = sum(1 for row in rows if (row["skill"] or 0.0) > 0)
    console().print(f"{len(rows)} models in {out}, {better} of them better than naive")
    if json_file is not None:
        write_json(json_file, rows)
