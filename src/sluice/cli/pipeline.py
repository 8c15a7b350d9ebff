"""`sluice pipeline …`: bulk data work on Spark, one file a verb."""

import typer

from sluice.cli import (
    pipeline_experiment,
    pipeline_forecast,
    pipeline_jars,
    pipeline_latency,
    pipeline_telemetry,
    pipeline_traces,
)

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.command("traces")(pipeline_traces.run)
app.command("latency")(pipeline_latency.run)
app.command("experiment")(pipeline_experiment.run)
app.command("forecast")(pipeline_forecast.run)
app.command("telemetry")(pipeline_telemetry.run)
app.command("jars")(pipeline_jars.run)
