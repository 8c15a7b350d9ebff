"""M/D/1: Poisson arrivals, every service of the same length, one server.

The distribution of the wait is a sum of positive terms (Franx 2001): with P_m the chance of at most m in line
and t in [(k-1) D, k D),

    P(W <= t) = exp(-u) * sum_{j=0}^{k-1} P_{k-1-j} u^j / j!,    u = lambda (k D - t).

Erlang's own series alternates in sign and loses all digits after a few services.
"""

from math import exp, expm1, floor, inf, log

import numpy as np

from sluice.theory.arrays import FloatArray
from sluice.theory.queueing.base import check_quantile, utilisation

# Beyond so many services the tail is exponential to the last digit; its rate is known.
HORIZON = 2000


def md1_wait_s(arrival_eps: float, service_eps: float) -> float:
    """Mean time before service (Pollaczek and Khinchine): rho / (2 (mu - lambda))."""
    rho = utilisation(arrival_eps, service_eps)
    return rho / (2.0 * (service_eps - arrival_eps)) if rho < 1.0 else inf


def md1_response_s(arrival_eps: float, service_eps: float) -> float:
    """Mean time to the end of service."""
    return md1_wait_s(arrival_eps, service_eps) + 1.0 / service_eps


def md1_wait_at_most(arrival_eps: float, service_eps: float, wait_s: float) -> float:
    """P(W <= wait_s)."""
    rho = utilisation(arrival_eps, service_eps)
    services = wait_s * service_eps
    if services < 0.0 or rho >= 1.0:
        return 0.0
    if services >= HORIZON:
        longer = 1.0 - _wait_at_most(rho, _line(rho, HORIZON), float(HORIZON))
        return 1.0 - longer * exp(-_decay(rho) * (services - HORIZON))
    return _wait_at_most(rho, _line(rho, floor(services) + 1), services)


def md1_wait_quantile_s(arrival_eps: float, service_eps: float, quantile: float) -> float:
    """The wait that the share `quantile` of arrivals does not exceed."""
    check_quantile(quantile)
    rho = utilisation(arrival_eps, service_eps)
    if rho >= 1.0:
        return inf
    if quantile <= 1.0 - rho:
        return 0.0
    horizon = 4
    line = _line(rho, horizon)
    while (reached := _wait_at_most(rho, line, float(horizon))) < quantile and horizon < HORIZON:
        horizon = min(2 * horizon, HORIZON)
        line = _line(rho, horizon)
    if reached < quantile:
        return (horizon + log((1.0 - reached) / (1.0 - quantile)) / _decay(rho)) / service_eps
    low, high = 0.0, float(horizon)
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        if _wait_at_most(rho, line, middle) < quantile:
            low = middle
        else:
            high = middle
    return high / service_eps


def md1_response_quantile_s(arrival_eps: float, service_eps: float, quantile: float) -> float:
    """Every service is the same: the wait's quantile and one service."""
    return md1_wait_quantile_s(arrival_eps, service_eps, quantile) + 1.0 / service_eps


def _line(rho: float, services: int) -> FloatArray:
    """P_0 … P_services: at most so many in line, the one in service not counted."""
    n = services + 2
    # Chance of more than i arrivals during a service; then p_j, the number in the system, by a recursion
    # without subtraction (Tijms): p_j exp(-rho) = more_{j-1} p_0 + sum_{k=1}^{j-1} more_{j-k} p_k.
    arrivals = np.empty(n + 30)  # more than 30 arrivals in a service have no chance a float could show
    arrivals[0] = exp(-rho)
    for i in range(1, len(arrivals)):
        arrivals[i] = arrivals[i - 1] * rho / i
    more = np.cumsum(arrivals[::-1])[::-1][1:]
    more[0] = -expm1(-rho)
    p = np.empty(n)
    p[0] = 1.0 - rho
    for j in range(1, n):
        p[j] = (more[j - 1] * p[0] + float(more[j - 1 : 0 : -1] @ p[1:j])) / arrivals[0]
    at_most: FloatArray = np.cumsum(p)[1:]
    return at_most


def _wait_at_most(rho: float, line: FloatArray, services: float) -> float:
    k = floor(services) + 1
    u = rho * (k - services)
    total, term = 0.0, exp(-u)
    for j in range(k):
        total += float(line[k - 1 - j]) * term
        term *= u / (j + 1)
        if term < 1e-18:
            break
    return total


def _decay(rho: float) -> float:
    """The rate theta of the tail, per service: rho (exp(theta) - 1) = theta, theta > 0."""
    low, high = 0.0, 1.0
    while rho * expm1(high) < high:
        low, high = high, 2.0 * high
    low = low or 1e-9 * (1.0 - rho)
    while high - low > 1e-14 * high:
        middle = 0.5 * (low + high)
        if rho * expm1(middle) < middle:
            low = middle
        else:
            high = middle
    return high
