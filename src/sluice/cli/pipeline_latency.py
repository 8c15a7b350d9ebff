"""`sluice pipeline latency`: exact latency of every event of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sluice.cli.pipeline_options import JsonFile, Master, Memory, Overwrite, spark
from sluice.errors import InputError

if TYPE_CHECKING:
    from sluice.pipeline.latency.cursor import Service
    from sluice.pipeline.latency.history import Segment


def run(
    events: Annotated[str, typer.Argument(help="Events in the layout of `pipeline traces` (its folder `events`).")],
    out: Annotated[str, typer.Option(help="Folder the summary is published to.")],
    journal: Annotated[Path | None, typer.Option(help="Journal of the run: who read what.")] = None,
    group: Annotated[str | None, typer.Option(help="The group, where the journal has several.")] = None,
    consumers: Annotated[
        int | None, typer.Option(help="Without a journal: this many consumers, partitions dealt out.")
    ] = None,
    service_s: Annotated[
        float | None, typer.Option(help="Every event takes this long; left off: the events' own service_s.")
    ] = None,
    s_per_byte: Annotated[float | None, typer.Option(help="And this much more for each byte.")] = None,
    objective_s: Annotated[float, typer.Option(help="The latency that was promised.")] = 0.5,
    bin_s: Annotated[float, typer.Option(help="Width of a row of the summary.")] = 60.0,
    per_event: Annotated[bool, typer.Option("--per-event", help="Write every event's latency too.")] = False,
    overwrite: Overwrite = False,
    master: Master = None,
    memory: Memory = None,
    json_file: JsonFile = None,
) -> None:
    """First in, first out, event by event, from events and the assignment history."""
    from sluice.cli.output import write_json
    from sluice.pipeline.latency.consumer import LatencySpec
    from sluice.pipeline.latency.write import write_latencies

    spec = LatencySpec(service=_service(service_s, s_per_byte), objective_s=objective_s, bin_s=bin_s)
    history = _history(events, journal, group, consumers)
    with spark("latency", master, memory) as session:
        total = write_latencies(session, events, history, spec, out, per_event=per_event, overwrite=overwrite)
    print(
        f"{total['events']} events, {total['sla_ratio']:.2%} within {objective_s:g} s, "
        f"mean {total['latency_mean_s']:.4g}, p99 {total['latency_p99_s']:.4g}, "
        f"worst {total['latency_max_s']:.4g} s; rows in {out}"
    )
    if json_file is not None:
        write_json(json_file, total)


def _history(events: str, journal: Path | None, group: str | None, consumers: int | None) -> "tuple[Segment, ...]":
    from sluice.control.journal import read_journal
    from sluice.pipeline.latency.history import history_of, static_history
    from sluice.pipeline.latency.write import partition_count

    if (journal is None) == (consumers is None):
        raise InputError("give either --journal FILE or --consumers N: who read what must be known")
    if journal is not None:
        return history_of(read_journal(journal), group)
    return static_history(partition_count(events), consumers or 0)


def _service(service_s: float | None, s_per_byte: float | None) -> "Service | None":
    from sluice.simulate import FixedService, PerByteService

    if s_per_byte is not None:
        base_s: Any = service_s or 0.0
        return PerByteService(s_per_byte=s_per_byte, base_s=base_s, mean_s=base_s + s_per_byte)
    return None if service_s is None else FixedService(mean_s=service_s)
