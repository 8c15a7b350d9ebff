"""`sluice pack`: packers compared on a recorded stream of partition sizes."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from sluice.lab.packing import PackingRow


class Order(StrEnum):
    """As `lab.packing.Order`, which is not imported to show the help."""

    ID = "ID"
    AS_GIVEN = "as-given"


def run(
    file: Annotated[
        Path, typer.Argument(help="JSON list of {topic: {partition: size}}, or CSV with iteration, partition, size.")
    ],
    capacity: Annotated[float, typer.Option(help="What a consumer holds, in the unit of the sizes.")],
    algorithm: Annotated[
        list[str] | None, typer.Option(help="A packer, or `exact`; may be repeated. Without: all packers.")
    ] = None,
    order: Annotated[
        Order, typer.Option(help="In which order the fits that do not sort take the partitions.")
    ] = Order.ID,
    time_limit_s: Annotated[float, typer.Option(help="How long `exact` may take for one measurement.")] = 10.0,
    json: Annotated[Path | None, typer.Option(help="Write the rows as JSON to this file.")] = None,
) -> None:
    """Replay a stream of partition sizes through packers: consumers used, and what had to move."""
    from sluice.cli.output import check_writable, console, write_json
    from sluice.cli.progress import progress
    from sluice.lab import packing
    from sluice.lab.measurements import read_measurements

    stream = read_measurements(file)
    names = algorithm or [name for name in packing.ALGORITHMS if name != packing.EXACT]
    if json is not None:
        check_writable(json)
    with progress(file.name, len(stream) * len(set(names)), steps=True) as advance:
        rows = packing.compare_packers(
            stream,
            names,
            capacity,
            order=packing.Order(order.value),
            time_limit_s=time_limit_s,
            on_step=advance,
        )
    if json is not None:
        write_json(json, rows)
    console().print(_table(rows, f"{file.name} ({len(stream)} measurements, capacity {capacity:g})"))


def _table(rows: "Sequence[PackingRow]", title: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("algorithm", "consumers", "CBS %", "Rscore", "reassigned", "Pareto front"):
        table.add_column(name, justify="left" if name == "algorithm" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.algorithm,
            f"{row.mean_consumers:.2f}",
            f"{100 * row.cbs:.2f}",
            f"{row.mean_rscore:.3f}",
            f"{row.mean_reassignments:.2f}",
            "[green]yes" if row.on_pareto_front else "",
        )
    return table
