"""The simulator against formulas. The error allowed is four standard errors of the simulated mean, from batch means."""

import math

import numpy as np
import pytest
from tests.simulate.worlds import latencies_s, one_group

from sluice.model.values import FloatArray
from sluice.simulate import ExponentialService, FixedService, Poisson, Protocol, Rates

EVENTS = 2_000_000
MU = 200.0


def _spec_rates(rho: float, servers: int = 1) -> Poisson:
    rate_eps = rho * MU * servers
    return Poisson(rates=Rates.constant(rate_eps, EVENTS / rate_eps))


def _agrees(latency_s: FloatArray, expected_s: float) -> None:
    batches = latency_s[EVENTS // 10 : EVENTS // 10 + 40 * (len(latency_s) // 50)].reshape(40, -1).mean(axis=1)
    error_s = 4 * batches.std(ddof=1) / math.sqrt(40)
    assert abs(batches.mean() - expected_s) < error_s
    # Tight enough to tell the models apart.
    assert error_s < 0.12 * expected_s


@pytest.mark.parametrize("rho", [0.3, 0.7, 0.9])
def test_mm1_mean_and_tail(rho: float) -> None:
    latency_s = latencies_s(one_group(_spec_rates(rho), service=ExponentialService(mean_s=1 / MU)))
    _agrees(latency_s, 1 / (MU - rho * MU))
    if rho < 0.9:  # time in system is exponential
        assert np.quantile(latency_s, 0.99) == pytest.approx(-math.log(0.01) / (MU - rho * MU), rel=0.05)


@pytest.mark.parametrize("rho", [0.3, 0.7, 0.9])
def test_md1_mean(rho: float) -> None:
    latency_s = latencies_s(one_group(_spec_rates(rho), service=FixedService(mean_s=1 / MU)))
    _agrees(latency_s, 1 / MU + rho / (2 * MU * (1 - rho)))


@pytest.mark.parametrize(("rho", "servers"), [(0.5, 2), (0.8, 4), (0.9, 8)])
def test_mmc_mean(rho: float, servers: int) -> None:
    spec = one_group(
        _spec_rates(rho, servers),
        service=ExponentialService(mean_s=1 / MU),
        protocol=Protocol.SEAMLESS,
        initial_consumers=servers,
    )
    load = rho * servers
    last = load**servers / math.factorial(servers) / (1 - rho)
    waits = last / (sum(load**k / math.factorial(k) for k in range(servers)) + last)
    _agrees(latencies_s(spec), 1 / MU + waits / (servers * MU * (1 - rho)))
