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
    """The scenario's stages hang together, and its objective is above what service alone takes along every path."""
    try:
        topology = build_topology(scenario)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    service_s = {group.name: build_service(group, scenario).mean_s for group in scenario.group}
    promised_s = scenario.objective.latency_s
    for path in topology.paths:
        least_s = sum(service_s[name] for name in path)
        if promised_s <= least_s:
            raise InputError(
                f"{where}: objective.latency_s is {promised_s:g}, but service alone takes {least_s:g} s "
                f"along {' → '.join(path)}; no number of consumers keeps it: promise more time or serve faster"
            )
