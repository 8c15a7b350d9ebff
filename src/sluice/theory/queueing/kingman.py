"""GI/G/1: any arrivals, any service, one server, by Kingman's heavy-traffic approximation."""

from math import inf

from sluice.theory.queueing.base import check_variation, utilisation


def kingman_wait_s(
    arrival_eps: float, service_eps: float, *, arrival_cv: float = 1.0, service_cv: float = 1.0
) -> float:
    """Mean time before service: rho / (1 - rho) * (c_a^2 + c_s^2) / 2 / mu; exact for Poisson arrivals."""
    rho = utilisation(arrival_eps, service_eps)
    check_variation("arrival_cv", arrival_cv)
    check_variation("service_cv", service_cv)
    if rho >= 1.0:
        return inf
    return rho / (1.0 - rho) * (arrival_cv**2 + service_cv**2) / 2.0 / service_eps
