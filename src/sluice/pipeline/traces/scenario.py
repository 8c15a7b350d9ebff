"""The scenario a trace is simulated with: TOML beside the events."""

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioSketch:
    """What a trace cannot know: the promise and the consumers."""

    latency_s: float = 0.5
    sla_ratio: float = 0.95
    service_s: float = 0.005
    interval_s: float = 1.0
    policies: tuple[str, ...] = ("overprovision", "linear", "binpack", "tail-binpack")


def scenario_toml(
    sketch: ScenarioSketch,
    *,
    name: str,
    source: str,
    duration_s: float,
    weights: list[int],
    events_file: str | None,
    rates_file: str | None,
) -> str:
    """Every single event from `events_file`, or else the rates of `rates_file` dealt out by the partitions' shares."""
    quoted = json.dumps  # TOML's basic strings are JSON's
    if events_file is not None:
        load = f'[topic.arrivals]\nkind = "recorded"\nfile = {quoted(events_file)}\n'
    else:
        load = (
            '[topic.arrivals]\nkind = "poisson"\n\n'
            f'[topic.rate]\nkind = "trace"\nfile = {quoted(rates_file)}\nstep_s = 1.0\nper = "second"\n\n'
            f'[topic.choice]\nkind = "weights"\nweights = {[float(w) for w in weights]}\n'
        )
    return (
        f"# Made by `sluice pipeline traces` from {source}\n"
        f"name = {quoted(name)}\n"
        f"duration_s = {max(duration_s, sketch.interval_s):.3f}\n"
        f"interval_s = {sketch.interval_s}\n"
        f"policies = [{', '.join(quoted(p) for p in sketch.policies)}]\n\n"
        f"[objective]\nlatency_s = {sketch.latency_s}\nsla_ratio = {sketch.sla_ratio}\n\n"
        f'[topic]\nname = "events"\npartitions = {len(weights)}\n\n'
        f"{load}\n"
        '[group]\nname = "consumers"\n\n'
        f'[group.service]\nkind = "fixed"\nmean_s = {sketch.service_s}\n'
    )
