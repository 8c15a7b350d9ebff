"""`sluice pipeline …`: bulk data work on Spark, one file a verb."""

import typer

from sluice.cli import pipeline_latency, pipeline_traces

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.command("traces")(pipeline_traces.run)
app.command("latency")(pipeline_latency.run)
