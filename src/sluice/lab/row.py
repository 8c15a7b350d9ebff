"""One line of a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run: a scenario, a policy, a seed, and what came of it."""

    scenario: str
    policy: str
    seed: int
    events: int
    sla_ratio: float
    """Share of events within the objective."""
    p50_s: float
    p99_s: float
    max_s: float
    replica_minutes: float
    clairvoyant_minutes: float | None
    """What 100 % would have cost at least; None where it is not known (a stage that another one feeds)."""
    cost_ratio: float | None
    """replica_minutes over clairvoyant_minutes."""
    up: int
    down: int
    reassign: int
    moved_partitions: int
    rscore_mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """Rows of one scenario and policy, averaged over seeds."""

    scenario: str
    policy: str
    seeds: int
    sla_ratio: float
    sla_least: float
    sla_most: float
    p50_s: float
    p99_s: float
    max_s: float
    replica_minutes: float
    clairvoyant_minutes: float | None
    cost_ratio: float | None
    up: float
    down: float
    reassign: float
    moved_partitions: float
    rscore_mean: float


def means(rows: Sequence[Row]) -> tuple[Mean, ...]:
    """One mean for each scenario and policy, in the order of their first appearance."""
    together: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        together.setdefault((row.scenario, row.policy), []).append(row)
    return tuple(_mean(mine) for mine in together.values())


def _mean(rows: list[Row]) -> Mean:
    ratios = [row.sla_ratio for row in rows]
    bounds = [row.clairvoyant_minutes for row in rows if row.clairvoyant_minutes is not None]
    costs = [row.cost_ratio for row in rows if row.cost_ratio is not None]
    return Mean(
        scenario=rows[0].scenario,
        policy=rows[0].policy,
        seeds=len(rows),
        sla_ratio=fmean(ratios),
        sla_least=min(ratios),
        sla_most=max(ratios),
        p50_s=fmean(row.p50_s for row in rows),
        p99_s=fmean(row.p99_s for row in rows),
        max_s=fmean(row.max_s for row in rows),
        replica_minutes=fmean(row.replica_minutes for row in rows),
        clairvoyant_minutes=fmean(bounds) if bounds else None,
        cost_ratio=fmean(costs) if costs else None,
        up=fmean(row.up for row in rows),
        down=fmean(row.down for row in rows),
        reassign=fmean(row.reassign for row in rows),
        moved_partitions=fmean(row.moved_partitions for row in rows),
        rscore_mean=fmean(row.rscore_mean for row in rows),
    )
