"""The topology of a scenario, and what a path of it can promise at best."""

from sluice.assembly.world import build_service
from sluice.errors import InputError
from sluice.model import Stage, Topology
from sluice.settings.scenario import Scenario


def build_topology(scenario: Scenario) -> Topology:
    """The groups as stages joined by topics; a circle, or a stage that nobody feeds, is an error."""
    return Topology(
        stages=tuple(
            Stage(
                name=group.name,
                inputs=tuple(topic.name for topic in scenario.inputs(group)),
                outputs=(group.output.name,) if group.output is not None else (),
            )
            for group in scenario.group
        ),
        sources=tuple(topic.name for topic in scenario.topic),
    )


def check_topology(scenario: Scenario, where: str) -> None:
    """The scenario's stages hang together, and every path's objective is above what service alone takes along it."""
    try:
        topology = build_topology(scenario)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    own = _own_objectives(scenario, topology, where)
    service_s = {group.name: build_service(group, scenario).mean_s for group in scenario.group}
    for path in topology.paths:
        field, promised_s = own.get(path, ("objective", scenario.objective.latency_s))
        least_s = sum(service_s[name] for name in path)
        if promised_s <= least_s:
            raise InputError(
                f"{where}: {field}.latency_s is {promised_s:g}, but service alone takes {least_s:g} s "
                f"along {' → '.join(path)}; no number of consumers keeps it: promise more time or serve faster"
            )


def _own_objectives(scenario: Scenario, topology: Topology, where: str) -> dict[tuple[str, ...], tuple[str, float]]:
    """(field, latency) of each path that the scenario names; it must be one, and be named once."""
    own: dict[tuple[str, ...], tuple[str, float]] = {}
    for number, path in enumerate(scenario.path):
        shown = " → ".join(path.stages)
        if path.stages not in topology.paths:
            known = "; ".join(" → ".join(each) for each in topology.paths)
            raise InputError(f"{where}: path[{number}].stages {shown} is no whole path of the topology; it has {known}")
        if path.stages in own:
            raise InputError(f"{where}: path[{number}].stages {shown} is there twice; give each path one objective")
        own[path.stages] = (f"path[{number}]", path.latency_s)
    return own
