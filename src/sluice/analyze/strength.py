"""How fast and how evenly consumers work, from the counters they report."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sluice.model import Assignment, Decision, Snapshot
from sluice.model.values import FloatArray, IntArray, floats, frozen, ints
from sluice.theory.rates import strength

_NONE = floats([])
_NO_COUNTERS = floats(np.empty((7, 0)))


class Strength(NamedTuple):
    consumer_eps: FloatArray
    service_eps: float | None
    service_cv: float | None
    arrival_cv: float | None
    selectivity: float | None
    latency_s: float | None


def measured_strength(snapshot: Snapshot, before: Snapshot | None, last: Decision | None) -> Strength:
    """Means since `before`, and the latency since `last`; a number that nothing was counted for stays as it was.

    Counters start at zero with their consumer, so without an earlier report they tell of its whole life.
    """
    now = snapshot.reports
    assert now is not None  # the caller looked
    here = snapshot.assignment
    then = before.reports if before is not None else None
    start = then if then is not None else now
    newest = last.snapshot.reports if last is not None else None
    old = last.workload if last is not None else None
    known = old.consumer_service_eps if old is not None else None
    measured = strength(
        now.counters,
        start.counters,
        _places(here, before.assignment if before is not None and then is not None else None),
        newest.counters if newest is not None else _NO_COUNTERS,
        known if known is not None else _NONE,
        _places(here, last.snapshot.assignment if last is not None else None),
    )
    frozen(measured)
    service_eps, service_cv, arrival_cv, selectivity, latency_s = measured[-5:].tolist()
    return Strength(
        consumer_eps=measured[:-5],
        service_eps=_or(service_eps, old.service_eps if old is not None else None),
        service_cv=_or(service_cv, old.service_cv if old is not None else None),
        arrival_cv=_or(arrival_cv, old.arrival_cv if old is not None else None),
        selectivity=_or(selectivity, old.selectivity if old is not None else None),
        latency_s=_or(latency_s, None),
    )


def _places(here: Assignment, there: Assignment | None) -> IntArray:
    """Each consumer's place in the earlier assignment, -1 where it was not there."""
    if there is None:
        return ints([-1] * len(here.consumers))
    if here.consumers == there.consumers:
        return _same_places(len(here.consumers))
    place = {name: i for i, name in enumerate(there.consumers)}
    return ints([place.get(name, -1) for name in here.consumers])


@lru_cache(maxsize=128)
def _same_places(count: int) -> IntArray:
    return frozen(np.arange(count))


def _or(value: float, otherwise: float | None) -> float | None:
    return value if value == value else otherwise
