"""The control loop of a scenario: analyzer, guarded policy, objective."""

import math
from collections.abc import Callable, Mapping

from sluice.analyze.base import Analyzer
from sluice.analyze.by_group import ByGroup
from sluice.analyze.window import WindowAnalyzer
from sluice.assembly.forecast import forecasting, looks_back_s
from sluice.assembly.topology import build_topology
from sluice.assembly.world import build_service, build_world, mean_bytes, peak_eps
from sluice.control.loop import MEMORY, ControlLoop, Sink
from sluice.errors import InputError
from sluice.execute.base import Executor
from sluice.model import Objective, PathObjective
from sluice.monitor.base import Monitor
from sluice.plan.base import Policy, memory_s
from sluice.plan.registry import make_policy, our_names, policy_parameters
from sluice.settings.group import GroupSettings
from sluice.settings.scenario import Argument, Scenario


def build_loop(scenario: Scenario, policy: Policy, sink: Sink) -> Callable[[Monitor, Executor], ControlLoop]:
    """What makes the loop once the world it steers is there."""
    analyzer = build_analyzer(scenario)
    topology = build_topology(scenario) if len(scenario.group) > 1 else None
    needed_s = max(memory_s(policy), scenario.analyze.service_window_s, looks_back_s(analyzer))
    memory = max(MEMORY, math.ceil(needed_s / scenario.interval_s) + 1)

    def made(monitor: Monitor, executor: Executor) -> ControlLoop:
        return ControlLoop(
            monitor=monitor,
            analyzer=analyzer,
            policy=policy,
            executor=executor,
            objective=build_objective(scenario),
            sink=sink,
            memory=memory,
            topology=topology,
        )

    return made


def build_objective(scenario: Scenario) -> Objective:
    promised = scenario.objective
    return Objective(
        latency_s=promised.latency_s,
        sla_ratio=promised.sla_ratio,
        paths=tuple(
            PathObjective(
                stages=path.stages,
                latency_s=path.latency_s,
                sla_ratio=promised.sla_ratio if path.sla_ratio is None else path.sla_ratio,
            )
            for path in scenario.path
        ),
    )


def build_policy(scenario: Scenario, name: str) -> Policy:
    """The policy of that name inside its guards, with the scenario's arguments."""
    arguments: dict[str, Argument] = {**scenario.guards, **scenario.policy.get(name, {})}
    if "peak_eps" in policy_parameters(name) and "peak_eps" not in arguments and len(scenario.group) == 1:
        # A policy for the peak may know it: the scenario does.
        arguments["peak_eps"] = sum(peak_eps(source) for source in build_world(scenario, seed=0).sources)
    return make_policy(name, **arguments)


def with_arguments(scenario: Scenario, policy: str, arguments: Mapping[str, Argument]) -> Scenario:
    """The scenario with these arguments of the policy put over its own, under whichever name it gives them."""
    own = our_names(policy, scenario.policy.get(policy, {}))
    merged = {**scenario.policy, policy: {**own, **our_names(policy, arguments)}}
    return scenario.model_copy(update={"policy": merged})


def check_policies(scenario: Scenario, where: str) -> None:
    """Every policy the scenario names can be made, or one line that says why not."""
    for name in {**dict.fromkeys(scenario.policies), **scenario.policy}:
        try:
            make_policy(name, **{**scenario.guards, **scenario.policy.get(name, {})})
        except InputError as error:
            raise InputError(f"{where}: {error}") from None


def build_analyzer(scenario: Scenario) -> ByGroup:
    """What is not measured yet is what the scenario says."""
    return ByGroup({group.name: _analyzer(group, scenario) for group in scenario.group})


def _analyzer(group: GroupSettings, scenario: Scenario) -> Analyzer:
    mean_s = build_service(group, scenario).mean_s
    capacity_bps = group.capacity_bps
    measured = WindowAnalyzer(
        window_s=scenario.analyze.window_s,
        bursts=scenario.analyze.bursts,
        burst_period_s=scenario.analyze.burst_period_s,
        service_window_s=scenario.analyze.service_window_s,
        rebalance_quantile=scenario.analyze.rebalance_quantile,
        service_eps=1.0 / mean_s,
        capacity_bps=mean_bytes(group, scenario) / mean_s if capacity_bps is None else capacity_bps,
        rebalance_s=group.rebalance_s,
        startup_s=group.startup_range_s[1],
    )
    return forecasting(measured, scenario.analyze.forecast, group.name)
