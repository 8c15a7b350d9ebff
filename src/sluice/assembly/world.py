"""A simulated world from a scenario."""

from pathlib import Path

import numpy as np

from sluice.model import LagBasis
from sluice.settings import group as groups
from sluice.settings import topic as topics
from sluice.settings.curve import rate_curve
from sluice.settings.group import GroupSettings
from sluice.settings.scenario import Scenario
from sluice.settings.topic import TopicSettings
from sluice.settings.trace import read_events
from sluice.simulate import (
    Arrivals,
    Burst,
    Choice,
    Even,
    ExponentialService,
    FixedService,
    FixedSize,
    GroupSpec,
    LognormalService,
    LognormalSize,
    Mmpp,
    Output,
    PerByteService,
    Poisson,
    Protocol,
    Rates,
    Recorded,
    RoundRobin,
    Service,
    Source,
    Weights,
    WorldSpec,
    ZipfKeys,
)


def build_world(scenario: Scenario, seed: int) -> WorldSpec:
    """The world of one run; the seed matters only to rates that have noise."""
    return WorldSpec(
        sources=tuple(_source(topic, scenario.duration_s, seed) for topic in scenario.topic),
        groups=tuple(_group(group, scenario) for group in scenario.group),
        duration_s=scenario.duration_s,
        interval_s=scenario.interval_s,
        objective_s=scenario.objective.latency_s,
        path_objectives_s={path.stages: path.latency_s for path in scenario.path},
    )


def peak_eps(source: Source) -> float:
    """The highest rate the source has in any second."""
    arrivals = source.arrivals
    if isinstance(arrivals, Mmpp):
        return max(arrivals.states_eps)
    if isinstance(arrivals, Recorded):
        return float(np.bincount(arrivals.time_s.astype(np.int64)).max())
    if isinstance(arrivals, Burst | Even | Poisson):
        return float(arrivals.rates.eps.max())
    raise TypeError(f"no peak is known for {type(arrivals).__name__}")


def mean_eps(source: Source) -> float:
    """The mean rate over the time the source has events."""
    arrivals = source.arrivals
    if isinstance(arrivals, Mmpp):
        return float(np.average(arrivals.states_eps, weights=arrivals.mean_dwell_s))
    if isinstance(arrivals, Recorded):
        return len(arrivals.time_s) / max(float(arrivals.time_s.max()), 1.0)
    if isinstance(arrivals, Burst | Even | Poisson):
        return float(arrivals.rates.eps.mean())
    raise TypeError(f"no mean is known for {type(arrivals).__name__}")


def mean_bytes(group: GroupSettings, scenario: Scenario) -> float:
    """Bytes of the mean event the group reads, each topic counting the same."""
    sizes = [_sizes(topic.size) for topic in scenario.inputs(group)]
    return sum(s.size_bytes if isinstance(s, FixedSize) else s.mean_bytes for s in sizes) / len(sizes)


def build_service(group: GroupSettings, scenario: Scenario) -> Service:
    """How long the group's consumers work on an event."""
    service = group.service
    if isinstance(service, groups.FixedService):
        return FixedService(mean_s=service.mean_s)
    if isinstance(service, groups.ExponentialService):
        return ExponentialService(mean_s=service.mean_s)
    if isinstance(service, groups.LognormalService):
        return LognormalService(mean_s=service.mean_s, cv=service.cv)
    mean_s = service.base_s + service.s_per_byte * mean_bytes(group, scenario)
    return PerByteService(s_per_byte=service.s_per_byte, base_s=service.base_s, mean_s=mean_s)


def _group(group: GroupSettings, scenario: Scenario) -> GroupSpec:
    return GroupSpec(
        name=group.name,
        topics=tuple(topic.name for topic in scenario.inputs(group)),
        service=build_service(group, scenario),
        protocol=Protocol(group.protocol),
        rebalance_s=group.rebalance_s,
        heartbeat_s=group.heartbeat_s,
        startup_s=group.startup_range_s,
        shutdown_s=group.shutdown_s,
        max_poll_events=group.max_poll_events,
        finish_batch=group.finish_batch,
        initial_consumers=group.initial_consumers,
        lag_basis=LagBasis(group.lag_basis),
        output=_output(group.output) if group.output is not None else None,
    )


def _output(output: groups.OutputSettings) -> Output:
    return Output(
        topic=output.name, partitions=output.partitions, choice=_choice(output.choice), sizes=_sizes(output.size)
    )


def _source(topic: TopicSettings, duration_s: float, seed: int) -> Source:
    return Source(
        topic=topic.name,
        partitions=topic.partitions,
        arrivals=_arrivals(topic, duration_s, seed),
        choice=_choice(topic.choice),
        sizes=_sizes(topic.size),
    )


def _arrivals(topic: TopicSettings, duration_s: float, seed: int) -> Arrivals:
    arrivals = topic.arrivals
    if isinstance(arrivals, topics.MmppArrivals):
        return Mmpp(states_eps=arrivals.states_eps, mean_dwell_s=arrivals.mean_dwell_s, duration_s=duration_s)
    if isinstance(arrivals, topics.RecordedArrivals):
        events = read_events(Path(arrivals.file), topic.partitions)
        return Recorded(time_s=events.time_s, partition=events.partition, size_bytes=events.size_bytes)
    assert topic.rate is not None  # checked with the settings
    curve = rate_curve(topic.rate, duration_s, seed)
    rates = Rates(eps=curve.values, step_s=curve.step_s)
    if isinstance(arrivals, topics.BurstArrivals):
        return Burst(rates=rates, period_s=arrivals.period_s, phase_s=arrivals.phase_s)
    if isinstance(arrivals, topics.EvenArrivals):
        return Even(rates=rates)
    return Poisson(rates=rates)


def _choice(choice: topics.Choice) -> Choice:
    if isinstance(choice, topics.ZipfChoice):
        return ZipfKeys(keys=choice.keys, exponent=choice.exponent)
    if isinstance(choice, topics.WeightsChoice):
        return Weights(weights=choice.weights, round_up=choice.round_up)
    return RoundRobin()


def _sizes(size: topics.Size) -> FixedSize | LognormalSize:
    if isinstance(size, topics.LognormalSize):
        return LognormalSize(mean_bytes=size.mean_bytes, cv=size.cv)
    return FixedSize(size_bytes=size.size_bytes)
