"""What the verbs of `sluice bench` share: a cluster to measure on, and how results are shown."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

from sluice.broker import Broker
from sluice.cli.table import comparison_table, seconds
from sluice.lab.live.bench import NEARBY_S, Compared
from sluice.lab.live.capacity import Capacity, Cycle
from sluice.lab.live.response import Change
from sluice.lab.row import means
from sluice.settings.scenario import Scenario

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def on_cluster(bootstrap: str | None) -> Iterator[str]:
    """The cluster of that address, or a broker that lives as long as this; SIGTERM ends in order, as Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, interrupt))
        yield bootstrap or stack.enter_context(Broker()).bootstrap


def print_compared(out: "Console", scenario: Scenario, compared: Sequence[Compared]) -> None:
    """The table of the simulator, two lines a policy, and what the machine was like."""
    rows = [
        replace(row, policy=f"{each.policy}, {how}")
        for each in compared
        for how, row in (("live", each.live), ("simulated", each.simulated))
    ]
    out.print(comparison_table(scenario, means(rows), ()))
    for each in compared:
        told = each.machinery
        pause = "not seen" if told.pause_s is None else seconds(told.pause_s)
        startup = "not seen" if told.startup_s is None else " to ".join(seconds(s) for s in told.startup_s)
        out.print(
            f"{each.policy}, {each.mode}: pause of a moved partition {pause}, start-up {startup}, "
            f"ticks at most {seconds(told.late_s)} late, events {seconds(told.delayed_s)}"
        )
        out.print(_spread(each))
        if told.late_s > scenario.interval_s / 2:
            out.print("  the machine was too busy to keep time: these numbers say more about it than about the policy")


def _spread(compared: Compared) -> str:
    predicted = (compared.simulated, *compared.nearby)
    kept = [100 * row.sla_ratio for row in predicted]
    minutes = [row.replica_minutes for row in predicted]
    return (
        f"  simulated, looks up to {seconds(max(NEARBY_S))} earlier or later: {min(kept):.2f} to {max(kept):.2f} %, "
        f"{min(minutes):.2f} to {max(minutes):.2f} replica-min"
    )


def print_changes(out: "Console", changes: Sequence[Change], steps: int) -> None:
    """Δt1 to Δt4 over all changes."""
    import numpy as np
    from rich import box
    from rich.table import Table

    columns: dict[str, list[float]] = {
        "Δt1 measuring": [c.measuring_s for c in changes],
        "Δt2 deciding": [c.deciding_s for c in changes],
        "Δt3 starting": [c.starting_s for c in changes if c.starting_s is not None],
        "Δt4 handing over": [c.handing_over_s for c in changes if c.handing_over_s is not None],
        "together": [c.whole_s for c in changes],
    }
    table = Table(title=f"{len(changes)} changes after {steps} measurements", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("", "changes", "median", "p90", "max"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for name, times in columns.items():
        shown = [seconds(float(np.quantile(times, q))) for q in (0.5, 0.9, 1.0)] if times else ["-"] * 3
        table.add_row(name, str(len(times)), *shown)
    out.print(table)
    if changes:
        moved, started = sum(c.moved for c in changes), sum(c.started for c in changes)
        out.print(f"{moved} partitions moved, {started} consumers started, {changes[-1].consumers} at the end")


def print_capacities(out: "Console", found: Sequence[Capacity], cycle: Cycle) -> None:
    """One line for each number of partitions and size, and how far they are apart."""
    from rich import box
    from rich.table import Table

    table = Table(title="capacity of one consumer", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("partitions", "bytes a message", "events", "cycles", "cycle", "MB/s", "events/s", "of the sink"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in found:
        table.add_row(
            *(f"{value:,}" for value in (each.partitions, each.size_bytes, each.events, each.cycles)),
            seconds(each.cycle_s),
            f"{each.capacity_bps / 1e6:.3f}",
            f"{each.capacity_eps:,.0f}",
            f"{each.capacity_bps / cycle.sink_bps:.1%}",
        )
    out.print(table)
    speeds = [each.capacity_bps for each in found]
    out.print(f"largest over smallest: {max(speeds) / min(speeds):.3f}")
