"""GI/G/k: any arrivals, any service, k servers that share one line, by Allen and Cunneen's approximation.

    T_q = (c_a^2 + c_s^2) / (2 k) * P_k / (mu (1 - rho)),   P_k = (rho^k + rho) / 2   if rho >= 0.7,
                                                                   rho^((k + 1) / 2)  below (Bolch et al.)

With c_a = c_s = 1 it is exact at k = 1. P_k jumps where its branches meet: from 0.20 to 0.38 at k = 8. A text that
elastic dataflows cite prints rho^sqrt(k + 1) below 0.7, which is off even at k = 1.
"""

from enum import Enum
from math import inf, sqrt

from sluice.theory.queueing.base import check_variation, utilisation

HEAVY = 0.7


class LightTraffic(Enum):
    """The chance that all servers are busy, below a utilisation of 0.7."""

    LITERATURE = "rho^((k+1)/2)"
    PRINTED = "rho^sqrt(k+1)"


def allen_cunneen_wait_s(
    arrival_eps: float,
    service_eps: float,
    servers: int,
    *,
    arrival_cv: float = 1.0,
    service_cv: float = 1.0,
    light_traffic: LightTraffic = LightTraffic.LITERATURE,
) -> float:
    """Mean time before service; `arrival_cv` and `service_cv` are standard deviation over mean."""
    rho = utilisation(arrival_eps, service_eps, servers)
    check_variation("arrival_cv", arrival_cv)
    check_variation("service_cv", service_cv)
    if rho >= 1.0:
        return inf
    if rho >= HEAVY:
        busy = (rho**servers + rho) / 2.0
    elif light_traffic is LightTraffic.LITERATURE:
        busy = rho ** ((servers + 1) / 2.0)
    else:
        busy = rho ** sqrt(servers + 1.0)
    return (arrival_cv**2 + service_cv**2) / (2.0 * servers) * busy / (service_eps * (1.0 - rho))


def allen_cunneen_response_s(
    arrival_eps: float,
    service_eps: float,
    servers: int,
    *,
    arrival_cv: float = 1.0,
    service_cv: float = 1.0,
    light_traffic: LightTraffic = LightTraffic.LITERATURE,
) -> float:
    """Mean time to the end of service."""
    wait_s = allen_cunneen_wait_s(
        arrival_eps,
        service_eps,
        servers,
        arrival_cv=arrival_cv,
        service_cv=service_cv,
        light_traffic=light_traffic,
    )
    return wait_s + 1.0 / service_eps
