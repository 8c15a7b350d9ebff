"""One run of one scenario, and the bound that belongs to it."""

from collections.abc import Callable

import numpy as np

from sluice.assembly.loop import build_loop, build_policy
from sluice.assembly.world import build_world, mean_eps
from sluice.control.journal import Discard
from sluice.control.loop import Sink
from sluice.errors import InputError
from sluice.lab.clairvoyant import Clairvoyant, clairvoyant
from sluice.lab.outcome import Outcome, outcome
from sluice.settings.scenario import Scenario
from sluice.simulate import simulate
from sluice.simulate.world import arrivals_of

LARGE_EVENTS = 30_000_000
"""Beyond this a run is kept in constant memory: latencies as a histogram, and no bound."""


def run(
    scenario: Scenario,
    policy: str,
    seed: int,
    *,
    bound: Clairvoyant | None,
    sink: Sink | None = None,
    exact: bool | None = None,
    on_tick: Callable[[float], None] | None = None,
) -> Outcome:
    """Simulate once. Every latency is kept, or (`exact=False`, and by default in huge runs) a histogram of them."""
    spec = build_world(scenario, seed)
    if exact is None:
        exact = expected_events(scenario) <= LARGE_EVENTS
    made = build_loop(scenario, build_policy(scenario, policy), Discard() if sink is None else sink)
    results = simulate(spec, seed=seed, make_loop=made, exact=exact, on_tick=on_tick)
    minutes = bound.replica_minutes if bound else None
    return outcome(spec, results, scenario=scenario.name, policy=policy, seed=seed, bound=minutes)


def expected_events(scenario: Scenario) -> float:
    """How many events the scenario sends, about."""
    return sum(mean_eps(source) * scenario.duration_s for source in build_world(scenario, seed=0).sources)


def check_step(step_s: float) -> None:
    """The bound's step is a time that can be walked through."""
    if not 0 < step_s < np.inf:
        raise InputError(f"step_s is {step_s}; give a time above 0 s")


def least_cost(scenario: Scenario, seed: int, step_s: float = 1.0) -> Clairvoyant | None:
    """The clairvoyant bound of all groups; None in huge runs, and where one stage's arrivals depend on another."""
    if any(group.output is not None for group in scenario.group) or expected_events(scenario) > LARGE_EVENTS:
        return None
    spec = build_world(scenario, seed)
    bounds = []
    for group in spec.groups:
        arriving = arrivals_of(spec, group.name, seed)
        bounds.append(
            clairvoyant(
                time_s=arriving.time_s,
                partition=arriving.partition,
                service_s=np.broadcast_to(arriving.service_s, arriving.time_s.shape),
                partitions=sum(s.partitions for s in spec.sources if s.topic in group.topics),
                duration_s=spec.duration_s,
                latency_s=spec.objective_s,
                step_s=step_s,
            )
        )
    return Clairvoyant(
        step_s=step_s,
        consumers=np.sum([b.consumers for b in bounds], axis=0),
        exact=all(b.exact for b in bounds),
    )
