"""How fast and how evenly consumers work, from the counters they report."""

from typing import NamedTuple

import numpy as np

from sluice.model import Decision, Snapshot, Workload
from sluice.model.values import FloatArray, IntArray, floats, frozen, ints
from sluice.theory.rates import mean_since, service_moments


class Strength(NamedTuple):
    service_eps: float | None
    service_cv: float | None
    arrival_cv: float | None
    selectivity: float | None
    consumer_eps: FloatArray
    latency_s: float | None


def measured_strength(snapshot: Snapshot, before: Snapshot | None, last: Decision | None) -> Strength:
    """Means since `before`; a number that nothing was counted for stays as it was at the last tick.

    Counters start at zero with their consumer, so without an earlier report they tell of its whole life.
    """
    now = snapshot.reports
    assert now is not None  # the caller looked
    then = before.reports if before is not None else None
    start = then if then is not None else now
    moments = service_moments(
        now.processed_events,
        now.emitted_events,
        now.busy_s,
        now.busy_s2,
        now.gap_s,
        now.gap_s2,
        start.processed_events,
        start.emitted_events,
        start.busy_s,
        start.busy_s2,
        start.gap_s,
        start.gap_s2,
        _places(snapshot, before if then is not None else None),
    )
    old = last.workload if last is not None else None
    return Strength(
        service_eps=_or(moments.group_eps, old.service_eps if old is not None else None),
        service_cv=_or(moments.service_cv, old.service_cv if old is not None else None),
        arrival_cv=_or(moments.arrival_cv, old.arrival_cv if old is not None else None),
        selectivity=_or(moments.selectivity, old.selectivity if old is not None else None),
        consumer_eps=_kept(moments.consumer_eps, snapshot, old),
        latency_s=_latency_s(snapshot, last.snapshot if last is not None else None),
    )


def _latency_s(snapshot: Snapshot, last: Snapshot | None) -> float | None:
    now, then = snapshot.reports, last.reports if last is not None else None
    if now is None or then is None:
        return None
    places = _places(snapshot, last)
    return _or(mean_since(now.latency_s, now.processed_events, then.latency_s, then.processed_events, places), None)


def _places(snapshot: Snapshot, before: Snapshot | None) -> IntArray:
    """Each consumer's place in the earlier snapshot, -1 where it was not there."""
    here = snapshot.assignment.consumers
    if before is None:
        return ints([-1] * len(here))
    there = before.assignment.consumers
    if here == there:
        return frozen(np.arange(len(here)))
    place = {name: i for i, name in enumerate(there)}
    return ints([place.get(name, -1) for name in here])


def _kept(measured: FloatArray, snapshot: Snapshot, old: Workload | None) -> FloatArray:
    """The consumers' service rates; who was idle keeps the last one known."""
    if old is None or old.consumer_service_eps is None or not np.isnan(measured.sum()):
        return frozen(measured)
    known = dict(zip(old.assignment.consumers, old.consumer_service_eps.tolist(), strict=True))
    names = snapshot.assignment.consumers
    return floats([known.get(n, m) if m != m else m for n, m in zip(names, measured.tolist(), strict=True)])


def _or(value: float, otherwise: float | None) -> float | None:
    return value if value == value else otherwise
