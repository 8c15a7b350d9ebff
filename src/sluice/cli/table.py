"""The table of a comparison, as a terminal shows it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sluice.lab.clairvoyant import Clairvoyant
from sluice.lab.row import Mean
from sluice.settings.scenario import Scenario

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS = ("policy", "SLA %", "p50", "p99", "max", "replica-min", "x bound", "up/down/re", "moved", "Rscore")


def comparison_table(scenario: Scenario, means: Sequence[Mean], bounds: Sequence[Clairvoyant | None]) -> "Table":
    """One line a policy, means over seeds; the last line is the clairvoyant bound."""
    from rich import box
    from rich.table import Table

    seeds = means[0].seeds
    objective = scenario.objective.sla_ratio
    title = f"{scenario.name} (mean of {seeds} run{'s' * (seeds != 1)}; objective {objective:.4g} of events in time)"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name == "policy" else "right", no_wrap=True)
    for mean in means:
        kept = mean.sla_ratio >= objective
        table.add_row(
            mean.policy,
            f"[{'green' if kept else 'red'}]{mean.sla_ratio:.2%}".replace("%", ""),
            *(seconds(value) for value in (mean.p50_s, mean.p99_s, mean.max_s)),
            f"{mean.replica_minutes:.2f}",
            "-" if mean.cost_ratio is None else f"{mean.cost_ratio:.2f}",
            "/".join(_short(count) for count in (mean.up, mean.down, mean.reassign)),
            _short(mean.moved_partitions),
            f"{mean.rscore_mean:.4f}",
        )
    least = means[0].clairvoyant_minutes
    if least is not None:
        exact = all(bound is not None and bound.exact for bound in bounds)
        name = "clairvoyant" if exact else "clairvoyant (lower bound)"
        table.add_row(name, "100.00", "", "", "", f"{least:.2f}", "1.00", "", "", "", style="dim")
    return table


def seconds(value: float) -> str:
    """A latency as a person reads it."""
    if value != value:
        return "-"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def _short(count: float) -> str:
    return f"{count:.1f}".removesuffix(".0")
