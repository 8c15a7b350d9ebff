"""M/M/1: Poisson arrivals, exponential service, one server."""

from math import inf, log, log1p

from sluice.theory.queueing.base import check_quantile, utilisation


def mm1_wait_s(arrival_eps: float, service_eps: float) -> float:
    """Mean time before service: rho / (mu - lambda)."""
    rho = utilisation(arrival_eps, service_eps)
    return rho / (service_eps - arrival_eps) if rho < 1.0 else inf


def mm1_response_s(arrival_eps: float, service_eps: float) -> float:
    """Mean time to the end of service: 1 / (mu - lambda)."""
    rho = utilisation(arrival_eps, service_eps)
    return 1.0 / (service_eps - arrival_eps) if rho < 1.0 else inf


def mm1_wait_quantile_s(arrival_eps: float, service_eps: float, quantile: float) -> float:
    """P(W > t) = rho * exp(-(mu - lambda) t)."""
    check_quantile(quantile)
    rho = utilisation(arrival_eps, service_eps)
    if rho >= 1.0:
        return inf
    return log(rho / (1.0 - quantile)) / (service_eps - arrival_eps) if quantile > 1.0 - rho else 0.0


def mm1_response_quantile_s(arrival_eps: float, service_eps: float, quantile: float) -> float:
    """P(T > t) = exp(-(mu - lambda) t)."""
    check_quantile(quantile)
    rho = utilisation(arrival_eps, service_eps)
    return -log1p(-quantile) / (service_eps - arrival_eps) if rho < 1.0 else inf
