"""The second world: virtual time, every event."""

from sluice.simulate.arrivals import Arrivals, Burst, Even, Mmpp, Poisson, Recorded
from sluice.simulate.choice import Choice, RoundRobin, Weights, ZipfKeys
from sluice.simulate.rates import Rates
from sluice.simulate.result import Latencies, PathResult, RunResult, Timeline
from sluice.simulate.run import simulate
from sluice.simulate.service import (
    ExponentialService,
    FixedService,
    FixedSize,
    LognormalService,
    LognormalSize,
    PerByteService,
    Service,
    Sizes,
)
from sluice.simulate.spec import GroupSpec, Output, Protocol, Source, WorldSpec
from sluice.simulate.world import World

__all__ = [
    "Arrivals",
    "Burst",
    "Choice",
    "Even",
    "ExponentialService",
    "FixedService",
    "FixedSize",
    "GroupSpec",
    "Latencies",
    "LognormalService",
    "LognormalSize",
    "Mmpp",
    "Output",
    "PathResult",
    "PerByteService",
    "Poisson",
    "Protocol",
    "Rates",
    "Recorded",
    "RoundRobin",
    "RunResult",
    "Service",
    "Sizes",
    "Source",
    "Timeline",
    "Weights",
    "World",
    "WorldSpec",
    "ZipfKeys",
    "simulate",
]
