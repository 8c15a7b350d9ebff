"""How the formulas refuse what they cannot use."""

from math import inf

from sluice.errors import InputError


def utilisation(arrival_eps: float, service_eps: float, servers: int = 1) -> float:
    """Offered load a server; from 1 on the queue grows without end."""
    if not 0.0 <= arrival_eps < inf:
        raise InputError(f"arrival_eps = {arrival_eps}; give a finite rate of at least 0")
    if not 0.0 < service_eps < inf:
        raise InputError(f"service_eps = {service_eps}; give a finite rate above 0")
    if servers < 1:
        raise InputError(f"servers = {servers}; give at least 1")
    return arrival_eps / (servers * service_eps)


def check_quantile(quantile: float) -> None:
    if not 0.0 <= quantile < 1.0:
        raise InputError(f"quantile = {quantile}; give a number from 0 to below 1, as 0.99")


def check_variation(name: str, cv: float) -> None:
    if not 0.0 <= cv < inf:
        raise InputError(f"{name} = {cv}; give a coefficient of variation of at least 0 (1 is exponential)")
