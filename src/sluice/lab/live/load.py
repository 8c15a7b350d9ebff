"""The events of a scenario, ready to be sent in real time."""

from dataclasses import dataclass, replace

import numpy as np

from sluice.errors import InputError
from sluice.model.values import FloatArray, IntArray
from sluice.simulate import Burst, Even, Poisson, Rates, Source, WorldSpec
from sluice.simulate.stream import EventStream


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Load:
    """All events in order of time, one entry each."""

    topics: tuple[str, ...]
    partitions: tuple[int, ...]
    """How many each topic has."""
    time_s: FloatArray
    """Since the beginning of the run."""
    topic: IntArray
    """The topic's place in `topics`."""
    partition: IntArray
    size_bytes: IntArray

    @property
    def count(self) -> int:
        return len(self.time_s)


def load_of(spec: WorldSpec, seed: int) -> Load:
    """The very events the simulator would draw with this seed."""
    events = [EventStream(source, seed).take(np.inf) for source in spec.sources]
    time_s = np.concatenate([each.time_s for each in events])
    order = np.argsort(time_s, kind="stable")
    sizes = np.concatenate([each.every_size_bytes() for each in events])
    return Load(
        topics=tuple(source.topic for source in spec.sources),
        partitions=tuple(source.partitions for source in spec.sources),
        time_s=time_s[order],
        topic=np.repeat(np.arange(len(events)), [len(each.time_s) for each in events])[order],
        partition=np.concatenate([each.partition for each in events])[order],
        size_bytes=np.rint(sizes).astype(np.int64)[order],
    )


def compressed(spec: WorldSpec, factor: int) -> WorldSpec:
    """The same rise and fall in less time: of each `factor` steps of the rate curve the middle one stays."""
    if factor < 1:
        raise InputError(f"compress is {factor}; give 1 or more")
    if factor == 1:
        return spec
    return replace(
        spec,
        sources=tuple(_compressed(source, factor) for source in spec.sources),
        duration_s=spec.duration_s / factor,
    )


def _compressed(source: Source, factor: int) -> Source:
    arrivals = source.arrivals
    if not isinstance(arrivals, Burst | Even | Poisson):
        kind = type(arrivals).__name__.lower()
        raise InputError(f"topic {source.topic!r} has {kind} arrivals; only those with a rate curve can be compressed")
    kept = arrivals.rates.eps[factor // 2 :: factor]
    return replace(source, arrivals=replace(arrivals, rates=Rates(eps=kept, step_s=arrivals.rates.step_s)))
