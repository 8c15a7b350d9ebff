"""Balancers: which consumer owns which partition, for a given number of consumers."""

from collections.abc import Mapping

from sluice.errors import InputError, did_you_mean
from sluice.plan.balance.base import Balancer
from sluice.plan.balance.cooperative_sticky import CooperativeSticky
from sluice.plan.balance.least_loaded import LeastLoaded
from sluice.plan.balance.range import Range
from sluice.plan.balance.round_robin import RoundRobin

BALANCERS: Mapping[str, Balancer] = {
    "range": Range(),
    "round-robin": RoundRobin(),
    "cooperative-sticky": CooperativeSticky(),
    "least-loaded": LeastLoaded(),
}


def balancer_named(name: str) -> Balancer:
    """The balancer of that name."""
    found = BALANCERS.get(name)
    if found is None:
        raise InputError(f"balancer {name!r} is unknown; {did_you_mean(name, BALANCERS)}")
    return found
