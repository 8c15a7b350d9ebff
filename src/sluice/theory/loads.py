"""What each consumer carries under a given assignment, in one compiled pass."""

from typing import NamedTuple

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.kernel import compiled
from sluice.theory.packing.few import pack_few


class LoadCheck(NamedTuple):
    """How an assignment stands against capacities."""

    over: int
    """Consumers above one of the two capacities that have a partition to give away."""
    ownerless: int
    """Partitions nobody owns."""
    hopeless: int
    """Partitions that alone bring as much as a consumer can serve, or more."""
    worst_rate: float
    worst_lag: float


@compiled
def check_loads(
    rate: FloatArray,
    lag: FloatArray,
    owner: IntArray,
    consumers: int,
    rate_capacity: float,
    lag_capacity: float,
    service: float,
) -> tuple[int, int, int, float, float]:
    """A `LoadCheck` as a plain tuple, which costs less to hand over.

    Where nobody owns anything, all share everything evenly.
    """
    rates = np.zeros(consumers)
    lags = np.zeros(consumers)
    held = np.zeros(consumers, np.int64)
    ownerless, hopeless = 0, 0
    total_rate, total_lag = 0.0, 0.0
    for i in range(len(rate)):
        if rate[i] >= service:
            hopeless += 1
        total_rate += rate[i]
        total_lag += lag[i]
        if owner[i] < 0:
            ownerless += 1
        else:
            rates[owner[i]] += rate[i]
            lags[owner[i]] += lag[i]
            held[owner[i]] += 1
    if ownerless == len(rate) and consumers > 0:
        rates[:] = total_rate / consumers
        lags[:] = total_lag / consumers
    over, worst_rate, worst_lag = 0, 0.0, 0.0
    for c in range(consumers):
        # A partition too big for its own consumer breaks the bound for ever; moving others about is no cure.
        if held[c] > 1 and (rates[c] > rate_capacity or lags[c] > lag_capacity):
            over += 1
        worst_rate = max(worst_rate, rates[c])
        worst_lag = max(worst_lag, lags[c])
    return over, ownerless, hopeless, worst_rate, worst_lag


@compiled
def check_few(
    rate: FloatArray,
    lag: FloatArray,
    owner: IntArray,
    consumers: int,
    service: float,
    latency_s: float,
    f_up: float,
    f_down: float,
) -> tuple[int, int, int, float, float, int, int]:
    """The check within f_up of capacity, the bins needed within f_up and within f_down: all of a tick in one call."""
    high, low = service * f_up, service * f_down
    over, ownerless, hopeless, worst_rate, worst_lag = check_loads(
        rate, lag, owner, consumers, high, high * latency_s, service
    )
    up = pack_few(rate.copy(), lag.copy(), high, high * latency_s, 1)[2]
    down = pack_few(rate.copy(), lag.copy(), low, low * latency_s, 1)[2]
    return over, ownerless, hopeless, worst_rate, worst_lag, up, down


@compiled
def usable(values: FloatArray) -> bool:
    """Every entry is a finite number of at least 0."""
    good = True
    for x in values:
        good = good and 0.0 <= x < np.inf
    return good
