"""`sluice pipeline traces`: raw logs in, a workload out."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sluice.cli.pipeline_options import JsonFile, Master, Memory, Overwrite, spark
from sluice.errors import InputError

if TYPE_CHECKING:
    from sluice.pipeline.traces.base import Reader
    from sluice.pipeline.traces.place import Placement


class Format(StrEnum):
    RATES = "rates"
    EVENTS = "events"
    TLC = "tlc"
    WORLDCUP98 = "worldcup98"
    AZURE_FUNCTIONS = "azure-functions"


class TextFormat(StrEnum):
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class Spread(StrEnum):
    EVEN = "even"
    BURST = "burst"
    RANDOM = "random"


def run(
    paths: Annotated[list[str], typer.Argument(help="Files or folders to read.")],
    out: Annotated[str, typer.Option(help="Folder the workload is published to.")],
    format: Annotated[Format, typer.Option(help="What the files are.")],
    partitions: Annotated[int, typer.Option(help="Partitions of the topic.")],
    files: Annotated[
        TextFormat | None, typer.Option(help="How events or TLC records are stored; by the ending when left off.")
    ] = None,
    step_s: Annotated[float, typer.Option(help="Seconds a rate's row stands for (1, 60).")] = 1.0,
    time_column: Annotated[str, typer.Option(help="Column of an event's time.")] = "timestamp",
    key_column: Annotated[str, typer.Option(help="Column of an event's key.")] = "key",
    size_column: Annotated[str, typer.Option(help="Column of an event's bytes.")] = "bytes",
    time_unit_s: Annotated[float, typer.Option(help="What a time that is a number counts: 1, or 0.001 for ms.")] = 1.0,
    start_s: Annotated[float, typer.Option(help="Begin this far into the log.")] = 0.0,
    stop_s: Annotated[float | None, typer.Option(help="Stop this far into the log.")] = None,
    speed_up: Annotated[float, typer.Option(help="Replay this many times faster.")] = 1.0,
    peak_eps: Annotated[
        float | None, typer.Option(help="Scale so that the busiest second has this many events.")
    ] = None,
    spread: Annotated[Spread, typer.Option(help="Where a rate's events stand in their step.")] = Spread.EVEN,
    hot: Annotated[int | None, typer.Option(help="Skew: this many partitions get --hot-share of the events.")] = None,
    hot_share: Annotated[float, typer.Option(help="Share of the hot partitions.")] = 0.5,
    zipf_keys: Annotated[int | None, typer.Option(help="Skew: new keys, this many, by Zipf's law.")] = None,
    zipf_exponent: Annotated[float, typer.Option(help="Zipf's exponent.")] = 1.0,
    disorder_s: Annotated[float, typer.Option(help="How far an ordered log may step back in time.")] = 60.0,
    max_bad_ratio: Annotated[float, typer.Option(help="Fail when more than this share cannot be used.")] = 0.1,
    latency_s: Annotated[float, typer.Option(help="Objective of the scenario.")] = 0.5,
    service_s: Annotated[float, typer.Option(help="Service time of the scenario.")] = 0.005,
    seed: Annotated[int, typer.Option(help="What is random follows from it.")] = 0,
    overwrite: Overwrite = False,
    master: Master = None,
    memory: Memory = None,
    json_file: JsonFile = None,
) -> None:
    """Clean and reshape logs into events by partition, with a scenario that `sluice simulate` takes."""
    from sluice.cli.output import write_json
    from sluice.pipeline.traces.job import TraceSpec, make_trace
    from sluice.pipeline.traces.scenario import ScenarioSketch
    from sluice.pipeline.traces.shape import Spread as SpreadRule

    spec = TraceSpec(
        reader=_reader(
            format, files or _by_ending(paths[0]), step_s, time_column, key_column, size_column, time_unit_s
        ),
        partitions=partitions,
        placement=_placement(hot, hot_share, zipf_keys, zipf_exponent),
        start_s=start_s,
        stop_s=stop_s,
        speed_up=speed_up,
        peak_eps=peak_eps,
        spread=SpreadRule(spread),
        seed=seed,
        disorder_s=disorder_s,
        max_bad_ratio=max_bad_ratio,
        scenario=ScenarioSketch(latency_s=latency_s, service_s=service_s),
    )
    with spark("traces", master, memory) as session:
        summary = make_trace(session, paths, out, spec, overwrite=overwrite)
    bad = ", ".join(f"{count} {problem}" for problem, count in summary.quarantined.items()) or "none"
    print(
        f"{summary.events} events in {summary.duration_s:.0f} s on {partitions} partitions in {out}: "
        f"mean {summary.mean_eps:.1f}, peak {summary.peak_eps:.1f} events/s; quarantined: {bad}"
    )
    if json_file is not None:
        write_json(json_file, summary)


def _reader(
    format: Format,
    files: TextFormat,
    step_s: float,
    time_column: str,
    key_column: str,
    size_column: str,
    time_unit_s: float,
) -> "Reader":
    from sluice.pipeline.traces.azure_functions import AzureFunctions
    from sluice.pipeline.traces.columns import LogFormat
    from sluice.pipeline.traces.event_log import EventLog
    from sluice.pipeline.traces.rate_csv import RateCsv
    from sluice.pipeline.traces.taxi import Taxi
    from sluice.pipeline.traces.worldcup98 import WorldCup98

    stored = LogFormat(files)
    if format is Format.RATES:
        return RateCsv(step_s=step_s)
    if format is Format.EVENTS:
        return EventLog(
            format=stored,
            time_column=time_column,
            key_column=key_column,
            size_column=size_column,
            time_unit_s=time_unit_s,
        )
    if format is Format.TLC:
        return Taxi(format=stored)
    return WorldCup98() if format is Format.WORLDCUP98 else AzureFunctions()


def _placement(hot: int | None, hot_share: float, zipf_keys: int | None, zipf_exponent: float) -> "Placement":
    from sluice.pipeline.traces.place import ByKey, HotPartitions, ZipfKeys

    if hot is not None and zipf_keys is not None:
        raise InputError("--hot and --zipf-keys are both given; choose one skew")
    if hot is not None:
        return HotPartitions(hot=hot, share_ratio=hot_share)
    if zipf_keys is not None:
        return ZipfKeys(keys=zipf_keys, exponent=zipf_exponent)
    return ByKey()


def _by_ending(path: str) -> TextFormat:
    endings = {".parquet": TextFormat.PARQUET, ".json": TextFormat.JSON, ".jsonl": TextFormat.JSON}
    return endings.get(Path(path.removesuffix(".gz")).suffix, TextFormat.CSV)
