"""Small worlds for the tests."""

from typing import Any

from sluice.model.values import FloatArray
from sluice.simulate import Arrivals, FixedService, GroupSpec, Protocol, Source, World, WorldSpec
from sluice.simulate.choice import Choice, RoundRobin
from sluice.simulate.state import GroupState


def one_group(
    arrivals: Arrivals,
    *,
    partitions: int = 1,
    choice: Choice | None = None,
    duration_s: float = 60.0,
    interval_s: float = 1.0,
    **group: Any,
) -> WorldSpec:
    settings: dict[str, Any] = {"service": FixedService(mean_s=0.005), "protocol": Protocol.EAGER, **group}
    return WorldSpec(
        sources=(Source(topic="t", partitions=partitions, arrivals=arrivals, choice=choice or RoundRobin()),),
        groups=(GroupSpec(name="g", topics=("t",), **settings),),
        duration_s=duration_s,
        interval_s=interval_s,
    )


def latencies_s(spec: WorldSpec, seed: int = 1) -> FloatArray:
    """Every event's latency when nobody changes anything."""
    world = World(spec, seed=seed)
    world.finish()
    return served_s(world.groups["g"].state)


def served_s(state: GroupState) -> FloatArray:
    """The latencies of a group that keeps them all."""
    assert state.latency_s is not None
    return state.latency_s
