"""M/M/c: Poisson arrivals, exponential service, c servers that share one line."""

from math import exp, expm1, inf, log

from sluice.theory.queueing.base import check_quantile, utilisation


def erlang_c(arrival_eps: float, service_eps: float, servers: int) -> float:
    """The share of arrivals that must wait."""
    rho = utilisation(arrival_eps, service_eps, servers)
    if rho >= 1.0:
        return 1.0
    # Erlang's B by its recursion over servers (no factorials to overflow), and C from B.
    blocked = 1.0
    for server in range(1, servers + 1):
        offered = rho * servers * blocked
        blocked = offered / (server + offered)
    return blocked / (1.0 - rho * (1.0 - blocked))


def mmc_wait_s(arrival_eps: float, service_eps: float, servers: int) -> float:
    """Mean time before service: C / (c mu - lambda)."""
    waits = erlang_c(arrival_eps, service_eps, servers)
    spare = servers * service_eps - arrival_eps
    return waits / spare if spare > 0.0 else inf


def mmc_response_s(arrival_eps: float, service_eps: float, servers: int) -> float:
    """Mean time to the end of service."""
    return mmc_wait_s(arrival_eps, service_eps, servers) + 1.0 / service_eps


def mmc_wait_quantile_s(arrival_eps: float, service_eps: float, servers: int, quantile: float) -> float:
    """P(W > t) = C exp(-(c mu - lambda) t)."""
    check_quantile(quantile)
    waits = erlang_c(arrival_eps, service_eps, servers)
    spare = servers * service_eps - arrival_eps
    if spare <= 0.0:
        return inf
    return log(waits / (1.0 - quantile)) / spare if quantile > 1.0 - waits else 0.0


def mmc_response_quantile_s(arrival_eps: float, service_eps: float, servers: int, quantile: float) -> float:
    """The time within which the share `quantile` of arrivals is served, by halving on the closed form."""
    check_quantile(quantile)
    waits = erlang_c(arrival_eps, service_eps, servers)
    spare = servers * service_eps - arrival_eps
    if spare <= 0.0:
        return inf
    low, high = 0.0, 1.0 / service_eps
    while _response_longer_than(high, waits, service_eps, spare) > 1.0 - quantile:
        low, high = high, 2.0 * high
    while high - low > 1e-13 * high:
        middle = 0.5 * (low + high)
        if _response_longer_than(middle, waits, service_eps, spare) > 1.0 - quantile:
            low = middle
        else:
            high = middle
    return high


def _response_longer_than(time_s: float, waits: float, service_eps: float, spare: float) -> float:
    """P(W + S > t): no wait with 1 - C, else W exponential with rate `spare`; S exponential with rate mu.

    The sum of two exponentials of rates a and b exceeds t with exp(-a t) + a t exp(-a t) g((a - b) t) where
    g(x) = (exp(x) - 1) / x, which has no gap at a = b.
    """
    served = exp(-service_eps * time_s)
    apart = (service_eps - spare) * time_s
    if apart > 0.0:  # take the larger exponent out, so that nothing overflows
        served_late = exp(-spare * time_s) * (-expm1(-apart) / apart)
    else:
        served_late = served * (expm1(apart) / apart if apart < 0.0 else 1.0)
    return served + waits * service_eps * time_s * served_late
