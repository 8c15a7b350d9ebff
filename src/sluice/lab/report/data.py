"""What the report's script draws, as plain data, thinned to what a screen can show."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sluice import __version__
from sluice.assembly.loop import build_objective
from sluice.lab.clairvoyant import Clairvoyant
from sluice.lab.compare import Compared
from sluice.lab.library import stand_ins
from sluice.lab.outcome import Curves, Outcome
from sluice.lab.row import Mean, means
from sluice.model import Objective, PathObjective
from sluice.model.codec import encode
from sluice.model.values import FloatArray, IntArray
from sluice.settings.group import GroupSettings
from sluice.settings.scenario import Scenario

_ARRIVALS = {
    "burst": "in bursts",
    "even": "evenly spaced",
    "poisson": "Poisson",
    "mmpp": "Poisson with jumps",
    "recorded": "as recorded",
}
POINTS = 600
"""Of a curve over time: more than a screen has columns for."""


def report_data(compared: Sequence[Compared]) -> dict[str, Any]:
    """One section a scenario."""
    return {
        "title": ", ".join(part.scenario.name for part in compared),
        "version": __version__,
        "sections": [_section(part) for part in compared],
    }


def _section(part: Compared) -> dict[str, Any]:
    scenario = part.scenario
    averages = means(part.rows)
    first = [outcome for outcome in part.outcomes if outcome.row.seed == part.outcomes[0].row.seed]
    known = [bound for bound in part.bounds if bound is not None]
    return {
        "name": scenario.name,
        "description": scenario.description,
        "facts": _facts(scenario, part),
        "notes": [f"{file} is not there: a curve fitted to it stands in." for file in stand_ins(scenario)],
        "objective_s": scenario.objective.latency_s,
        "objective_ratio": scenario.objective.sla_ratio,
        "duration_s": scenario.duration_s,
        "verdict": _verdict(averages, scenario.objective.sla_ratio),
        "means": encode(averages),
        "rows": encode(part.rows),
        "exact": all(bound.exact for bound in known),
        "bound": _steps(*_bound_steps(known[0])) if known else None,
        "load": _thinned(first[0].curves.time_s, first[0].curves.arrival_eps, np.nanmean),
        "runs": [_run(outcome) for outcome in first],
    }


def _run(outcome: Outcome) -> dict[str, Any]:
    curves = outcome.curves
    return {
        "policy": outcome.row.policy,
        "seed": outcome.row.seed,
        "consumers": _steps(curves.time_s, curves.consumers),
        "worst": _thinned(curves.time_s, curves.worst_latency_s, np.nanmax),
        "cdf": {"x": _rounded(curves.cdf_s), "y": _rounded(curves.cdf_ratio, 7)},
        "actions": _actions(curves),
    }


def _actions(curves: Curves) -> list[dict[str, Any]]:
    return [
        {"time": round(time_s, 3), "action": action, "before": before, "after": after}
        for time_s, action, before, after in curves.actions
    ]


def _facts(scenario: Scenario, part: Compared) -> list[list[str]]:
    """What a reader must know to judge the numbers, as pairs of name and value."""
    group = scenario.group[0]
    partitions = sum(topic.partitions for topic in scenario.inputs(group))
    seeds = len(part.bounds)
    facts = [
        ["load", f"{part.outcomes[0].row.events:,} events in {_minutes(scenario.duration_s)}, {_arrivals(scenario)}"],
        ["partitions", str(partitions)],
        ["service", _service(group)],
        ["promise", _promise(build_objective(scenario))],
        *([f"promise of {' → '.join(own.stages)}", _promise(own)] for own in build_objective(scenario).paths),
        ["rebalance", f"{group.protocol}, {group.rebalance_s:g} s; heartbeat {group.heartbeat_s:g} s"],
        ["decisions", f"every {scenario.interval_s:g} s"],
        ["runs", f"{seeds} of each policy" if seeds > 1 else "one of each policy"],
    ]
    if len(scenario.group) > 1:
        facts.insert(1, ["stages", ", ".join(g.name for g in scenario.group)])
    return facts


def _promise(objective: Objective | PathObjective) -> str:
    return f"{objective.sla_ratio:.4g} of events within {objective.latency_s:g} s"


def _arrivals(scenario: Scenario) -> str:
    return " and ".join(dict.fromkeys(_ARRIVALS[topic.arrivals.kind] for topic in scenario.topic))


def _service(group: GroupSettings) -> str:
    service = group.service
    if service.kind == "per-byte":
        return f"{service.s_per_byte:g} s a byte"
    return f"{service.kind}, {service.mean_s * 1000:g} ms ({1 / service.mean_s:g} events/s a consumer)"


def _minutes(duration_s: float) -> str:
    return f"{duration_s / 60:g} min" if duration_s >= 120 else f"{duration_s:g} s"


def _verdict(averages: Sequence[Mean], wanted: float) -> str:
    kept = [mean for mean in averages if mean.sla_ratio >= wanted]
    if not kept:
        best = max(averages, key=lambda mean: mean.sla_ratio)
        return f"No policy keeps the promise; {best.policy} comes closest with {best.sla_ratio:.1%} in time."
    if len(averages) == 1:
        return f"{kept[0].policy} keeps the promise at {kept[0].replica_minutes:.1f} replica-minutes."
    best = min(kept, key=lambda mean: mean.replica_minutes)
    return (
        f"{best.policy} is the cheapest policy that keeps the promise: {best.sla_ratio:.1%} in time at "
        f"{best.replica_minutes:.1f} replica-minutes."
    )


def _bound_steps(bound: Clairvoyant) -> tuple[FloatArray, IntArray]:
    return np.arange(len(bound.consumers), dtype=np.float64) * bound.step_s, bound.consumers


def _steps(time_s: FloatArray, count: IntArray) -> dict[str, list[float]]:
    """Only where the count changes; exact, and short."""
    change = np.flatnonzero(np.diff(count, prepend=count[0] - 1))
    return {
        "x": [*_rounded(time_s[change]), round(float(time_s[-1]), 3)],
        "y": [*count[change].tolist(), int(count[-1])],
    }


def _thinned(time_s: FloatArray, values: FloatArray, together: Any) -> dict[str, Sequence[float | None]]:
    """At most POINTS points: the mean, or the peak, of neighbours."""
    width = -(-len(values) // POINTS)
    whole = len(values) // width * width
    blocks = values[:whole].reshape(-1, width)
    seen = ~np.isnan(blocks).all(axis=1)
    joined = np.full(len(blocks), np.nan)
    joined[seen] = together(blocks[seen], axis=1)
    return {"x": _rounded(time_s[:whole:width]), "y": [None if y != y else round(y, 4) for y in joined.tolist()]}


def _rounded(values: FloatArray, digits: int = 4) -> list[float]:
    return [round(value, digits) for value in values.tolist()]
