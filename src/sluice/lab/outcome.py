"""What is kept of a run: its row, and the curves a report draws."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sluice.lab.row import Row
from sluice.model import Action
from sluice.model.codec import encode
from sluice.model.values import FloatArray, IntArray
from sluice.simulate import Latencies, PathResult, RunResult, WorldSpec


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curves:
    """One run over time, and its latencies; one entry a tick unless the name says otherwise."""

    time_s: FloatArray
    consumers: IntArray
    """Of all groups together."""
    arrival_eps: FloatArray
    """From outside."""
    lag_events: FloatArray
    worst_latency_s: FloatArray
    actions: tuple[tuple[float, str, int, int], ...]
    """(time, action, consumers before, consumers after), only where something was done."""
    cdf_s: FloatArray
    cdf_ratio: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """A run, kept small enough to keep many."""

    row: Row
    curves: Curves
    paths: tuple[PathResult, ...] = ()
    """Of a topology: how each path kept its objective."""


def outcome(
    spec: WorldSpec, results: Mapping[str, RunResult], *, scenario: str, policy: str, seed: int, bound: float | None
) -> Outcome:
    """`bound` is the clairvoyant cost in replica-minutes. Latency and events are those at the end of the topology."""
    last = _last_stages(spec, results)
    events = sum(result.events for result in last)
    late = sum(result.late_events for result in last)
    latencies = _together([result.latencies for result in last])
    minutes = sum(result.replica_minutes for result in results.values())
    row = Row(
        scenario=scenario,
        policy=policy,
        seed=seed,
        events=events,
        sla_ratio=1.0 - late / events if events else 1.0,
        p50_s=latencies.quantile_s(0.5),
        p99_s=latencies.quantile_s(0.99),
        max_s=latencies.largest_s if events else float("nan"),
        replica_minutes=minutes,
        clairvoyant_minutes=bound,
        cost_ratio=minutes / bound if bound else None,
        up=sum(result.up for result in results.values()),
        down=sum(result.down for result in results.values()),
        reassign=sum(result.reassign for result in results.values()),
        moved_partitions=sum(result.moved_partitions for result in results.values()),
        rscore_mean=sum(result.rscore_mean for result in results.values()),
    )
    paths = tuple(path for result in results.values() for path in result.paths)
    return Outcome(row=row, curves=_curves(spec, results, latencies), paths=paths)


def simulated(outcome: Outcome) -> dict[str, Any]:
    """The row, and how each path kept its objective, as JSON has it."""
    paths = [{**encode(path), "sla_ratio": path.sla_ratio} for path in outcome.paths]
    return {**encode(outcome.row), "paths": paths}


def _last_stages(spec: WorldSpec, results: Mapping[str, RunResult]) -> list[RunResult]:
    read = {topic for group in spec.groups for topic in group.topics}
    return [results[group.name] for group in spec.groups if group.output is None or group.output.topic not in read]


def _together(parts: list[Latencies]) -> Latencies:
    if len(parts) == 1:
        return parts[0]
    exact = [part.exact_s for part in parts if part.exact_s is not None]
    counted = [part.histogram for part in parts if part.histogram is not None]
    return Latencies(
        np.concatenate(exact) if exact else None,
        np.sum(counted, axis=0) if counted else None,
        max(part.largest_s for part in parts),
    )


def _curves(spec: WorldSpec, results: Mapping[str, RunResult], latencies: Latencies) -> Curves:
    lines = [result.timeline for result in results.values()]
    outside = {source.topic for source in spec.sources}
    first = [results[group.name].timeline for group in spec.groups if outside.issuperset(group.topics)]
    consumers: IntArray = np.sum([line.consumers for line in lines], axis=0)
    before = np.concatenate((consumers[:1], consumers[:-1]))
    acted = [
        (float(line.time_s[i]), action, int(before[i]), int(consumers[i]))
        for line in lines
        for i, action in enumerate(line.action)
        if action != Action.HOLD
    ]
    cdf_s, cdf_ratio = latencies.cdf()
    return Curves(
        time_s=lines[0].time_s,
        consumers=consumers,
        arrival_eps=np.sum([line.arrival_eps for line in first], axis=0),
        lag_events=np.sum([line.lag_events for line in lines], axis=0),
        worst_latency_s=np.max([line.worst_latency_s for line in lines], axis=0),
        actions=tuple(sorted(acted)),
        cdf_s=cdf_s,
        cdf_ratio=cdf_ratio,
    )
