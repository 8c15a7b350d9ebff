"""Queueing formulas against sums written out, high precision, published tables and brute force."""

from decimal import Decimal, localcontext
from fractions import Fraction
from heapq import heapify, heapreplace
from math import exp, factorial, floor, inf, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from sluice.errors import InputError
from sluice.theory import queueing as q

RHO = st.floats(0.02, 0.97)
QUANTILE = st.floats(0.0, 0.9999)


@pytest.mark.parametrize("servers", [1, 2, 5, 10, 30])
@pytest.mark.parametrize("rho", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_erlang_c_against_its_definition(servers: int, rho: Fraction) -> None:
    offered = rho * servers
    last = offered**servers / factorial(servers) / (1 - rho)
    exact = last / (sum(offered**k / Fraction(factorial(k)) for k in range(servers)) + last)
    assert q.erlang_c(float(offered), 1.0, servers) == pytest.approx(float(exact), rel=1e-12)


def test_erlang_c_against_a_published_table() -> None:
    # Offered load in Erlang, agents, share that waits, as tables of call-centre handbooks print it.
    for offered, servers, share in ((1.0, 2, 0.3333), (4.0, 5, 0.5541), (8.0, 10, 0.4092), (18.0, 20, 0.5508)):
        assert q.erlang_c(offered, 1.0, servers) == pytest.approx(share, abs=6e-5)


def test_a_thousand_servers_do_not_overflow() -> None:
    assert 0.0 < q.erlang_c(950.0, 1.0, 1000) < 0.2


@given(RHO, st.integers(1, 40), QUANTILE)
def test_one_server_is_a_special_case_and_quantiles_invert_the_tail(rho: float, servers: int, quantile: float) -> None:
    assert q.mmc_wait_s(rho, 1.0, 1) == pytest.approx(q.mm1_wait_s(rho, 1.0))
    assert q.mmc_response_s(rho, 1.0, 1) == pytest.approx(q.mm1_response_s(rho, 1.0))
    assert q.mmc_wait_quantile_s(rho, 1.0, 1, quantile) == pytest.approx(
        q.mm1_wait_quantile_s(rho, 1.0, quantile), abs=1e-9
    )
    assert q.mmc_response_quantile_s(rho, 1.0, 1, quantile) == pytest.approx(
        q.mm1_response_quantile_s(rho, 1.0, quantile), rel=1e-9, abs=1e-9
    )
    arrival = rho * servers
    waits, spare = q.erlang_c(arrival, 1.0, servers), servers - arrival
    wait_s = q.mmc_wait_quantile_s(arrival, 1.0, servers, quantile)
    assert wait_s == 0.0 or waits * exp(-spare * wait_s) == pytest.approx(1.0 - quantile)


@pytest.mark.parametrize(("arrival", "servers"), [(0.5, 1), (1.0, 2), (3.0, 4), (1.2, 3), (9.0, 10)])
def test_response_quantile_of_mmc_against_integration(arrival: float, servers: int) -> None:
    waits, spare = q.erlang_c(arrival, 1.0, servers), servers - arrival

    def longer_than(t: float) -> float:
        """P(S > t) + integral over services s < t of their density times P(W > t - s)."""
        return exp(-t) + quad(lambda s: exp(-s) * waits * exp(-spare * (t - s)), 0.0, t, epsabs=1e-13)[0]

    for quantile in (0.01, 0.5, 0.9, 0.99, 0.9999):
        response_s = q.mmc_response_quantile_s(arrival, 1.0, servers, quantile)
        assert longer_than(response_s) == pytest.approx(1.0 - quantile, rel=1e-8)
    mean, _ = quad(longer_than, 0.0, 80.0 / min(spare, 1.0), limit=400)
    assert mean == pytest.approx(q.mmc_response_s(arrival, 1.0, servers), rel=1e-6)


def test_mmc_against_brute_force() -> None:
    """400,000 arrivals at 3 servers, utilisation 0.8: the mean wait's standard error is about 1 % of it."""
    draw = np.random.default_rng(5)
    arrival, service, servers = 8.0, 10.0 / 3.0, 3
    free = [0.0] * servers
    heapify(free)
    waits = []
    at = np.cumsum(draw.exponential(1.0 / arrival, 400_000)).tolist()
    for time_s, length_s in zip(at, draw.exponential(1.0 / service, len(at)).tolist(), strict=True):
        start_s = max(time_s, free[0])
        heapreplace(free, start_s + length_s)
        waits.append(start_s - time_s)
    assert np.mean(waits) == pytest.approx(q.mmc_wait_s(arrival, service, servers), rel=0.04)
    assert np.quantile(waits, 0.99) == pytest.approx(q.mmc_wait_quantile_s(arrival, service, servers, 0.99), rel=0.06)


def erlang_series(rho: float, services: float) -> float:
    """P(W <= t) of M/D/1 by Erlang's alternating series, with digits enough for it."""
    with localcontext() as context:
        context.prec = 120
        load, t = Decimal(rho), Decimal(services)
        total = Decimal(0)
        for k in range(floor(services) + 1):
            x = load * (k - t)
            total += x**k / factorial(k) * (-x).exp() if x else Decimal(k == 0)
        return float((1 - load) * total)


@settings(max_examples=60)
@given(RHO, st.floats(0.0, 40.0))
def test_md1_against_erlangs_series(rho: float, services: float) -> None:
    service = 4.0
    assert q.md1_wait_at_most(rho * service, service, services / service) == pytest.approx(
        erlang_series(rho, services), abs=1e-11
    )


@given(RHO, QUANTILE)
def test_md1_quantiles_invert_the_distribution(rho: float, quantile: float) -> None:
    wait_s = q.md1_wait_quantile_s(rho, 1.0, quantile)
    if quantile <= 1.0 - rho:
        assert wait_s == 0.0
    else:
        assert q.md1_wait_at_most(rho, 1.0, wait_s) == pytest.approx(quantile, abs=1e-9)
    assert q.md1_response_quantile_s(rho, 1.0, quantile) == wait_s + 1.0


@pytest.mark.parametrize("rho", [0.3, 0.8, 0.95])
def test_md1_mean_is_the_integral_of_its_tail(rho: float) -> None:
    # By Simpson's rule between the kinks, one a service.
    at = [[1.0 - q.md1_wait_at_most(rho, 1.0, k + x) for x in (0.0, 0.25, 0.5, 0.75, 1.0 - 1e-12)] for k in range(150)]
    mean = sum((a + 4 * b + 2 * c + 4 * d + e) / 12 for a, b, c, d, e in at)
    assert mean == pytest.approx(q.md1_wait_s(rho, 1.0), rel=1e-4)


def test_md1_far_in_the_tail() -> None:
    # At utilisation 0.999 the quantile lies beyond the exact part; heavy traffic says about -ln(1 - q) / (2 (1 - rho)).
    wait_s = q.md1_wait_quantile_s(0.999, 1.0, 0.9999)
    assert wait_s > 2000.0
    assert wait_s == pytest.approx(-np.log(1e-4) / (2 * 0.001), rel=0.01)
    assert q.md1_wait_at_most(0.999, 1.0, wait_s) == pytest.approx(0.9999, abs=1e-9)


def test_md1_against_brute_force() -> None:
    """A million arrivals at utilisation 0.8 by Lindley's recursion, in one pass over running minima."""
    draw = np.random.default_rng(6)
    step = 1.0 - draw.exponential(1.0 / 0.8, 1_000_000)
    walk = np.concatenate([[0.0], np.cumsum(step)])
    waits = walk - np.minimum.accumulate(walk)
    assert waits.mean() == pytest.approx(q.md1_wait_s(0.8, 1.0), rel=0.03)
    for quantile in (0.5, 0.9, 0.99):
        assert np.quantile(waits, quantile) == pytest.approx(q.md1_wait_quantile_s(0.8, 1.0, quantile), rel=0.04)


@given(RHO, st.floats(0.0, 3.0))
def test_one_server_any_service_is_pollaczek_khinchine(rho: float, service_cv: float) -> None:
    exact = rho / (1 - rho) * (1 + service_cv**2) / 2
    assert q.kingman_wait_s(rho, 1.0, service_cv=service_cv) == pytest.approx(exact)
    assert q.allen_cunneen_wait_s(rho, 1.0, 1, service_cv=service_cv) == pytest.approx(exact)
    assert q.kingman_wait_s(rho, 1.0, service_cv=0.0) == pytest.approx(q.md1_wait_s(rho, 1.0))
    assert q.kingman_wait_s(rho, 1.0) == pytest.approx(q.mm1_wait_s(rho, 1.0))


def test_allen_cunneen_against_mmc() -> None:
    worst_response = worst_wait = 0.0
    for servers in range(1, 9):
        for rho in np.linspace(0.005, 0.999, 498).tolist():
            arrival = rho * servers
            off = _off(q.allen_cunneen_response_s, q.mmc_response_s, arrival, servers)
            assert servers > 1 or off < 1e-12, "exact for one server"
            worst_response = max(worst_response, off)
            if rho >= 0.7:
                worst_wait = max(worst_wait, _off(q.allen_cunneen_wait_s, q.mmc_wait_s, arrival, servers))
    assert 0.03 < worst_response <= 0.042
    assert 0.3 < worst_wait < 0.42


def _off(approximate: object, exact: object, arrival: float, servers: int) -> float:
    assert callable(approximate)
    assert callable(exact)
    truth: float = exact(arrival, 1.0, servers)
    found: float = approximate(arrival, 1.0, servers)
    return abs(found / truth - 1.0)


def test_the_printed_branch_is_an_option_and_off_at_one_server() -> None:
    printed = q.allen_cunneen_wait_s(0.5, 1.0, 1, light_traffic=q.LightTraffic.PRINTED)
    assert printed == pytest.approx(0.5 ** sqrt(2.0) / 0.5)
    assert printed != pytest.approx(q.mm1_wait_s(0.5, 1.0), rel=0.1)
    # Both are the same in heavy traffic.
    assert q.allen_cunneen_wait_s(6.4, 1.0, 8, light_traffic=q.LightTraffic.PRINTED) == q.allen_cunneen_wait_s(
        6.4, 1.0, 8
    )


def test_a_queue_that_cannot_keep_up_waits_for_ever() -> None:
    for arrival in (2.0, 3.0):
        assert q.mm1_wait_s(arrival, 2.0) == q.mm1_response_s(arrival, 2.0) == inf
        assert q.mm1_wait_quantile_s(arrival, 2.0, 0.5) == q.mm1_response_quantile_s(arrival, 2.0, 0.5) == inf
        assert q.mmc_wait_s(2 * arrival, 2.0, 2) == q.mmc_response_s(2 * arrival, 2.0, 2) == inf
        assert q.mmc_wait_quantile_s(2 * arrival, 2.0, 2, 0.5) == q.mmc_response_quantile_s(2 * arrival, 2.0, 2, 0.5)
        assert q.mmc_wait_quantile_s(2 * arrival, 2.0, 2, 0.5) == inf
        assert q.erlang_c(2 * arrival, 2.0, 2) == 1.0
        assert q.md1_wait_s(arrival, 2.0) == q.md1_response_quantile_s(arrival, 2.0, 0.5) == inf
        assert q.md1_wait_at_most(arrival, 2.0, 1e6) == 0.0
        assert q.allen_cunneen_response_s(2 * arrival, 2.0, 2) == q.kingman_wait_s(arrival, 2.0) == inf


def test_nothing_arrives() -> None:
    assert q.mm1_wait_s(0.0, 2.0) == q.mmc_wait_s(0.0, 2.0, 3) == q.md1_wait_s(0.0, 2.0) == 0.0
    assert q.allen_cunneen_wait_s(0.0, 2.0, 3) == q.kingman_wait_s(0.0, 2.0) == 0.0
    assert q.mm1_wait_quantile_s(0.0, 2.0, 0.99) == q.md1_wait_quantile_s(0.0, 2.0, 0.99) == 0.0
    assert q.mmc_wait_quantile_s(0.0, 2.0, 3, 0.99) == 0.0
    assert q.mmc_response_quantile_s(0.0, 2.0, 3, 0.5) == pytest.approx(np.log(2) / 2)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="service_eps = 0"):
        q.mm1_wait_s(1.0, 0.0)
    with pytest.raises(InputError, match="arrival_eps = -1"):
        q.md1_wait_s(-1.0, 1.0)
    with pytest.raises(InputError, match="arrival_eps = nan"):
        q.mmc_wait_s(float("nan"), 1.0, 2)
    with pytest.raises(InputError, match="servers = 0"):
        q.erlang_c(1.0, 1.0, 0)
    with pytest.raises(InputError, match=r"quantile = 1\.0"):
        q.mm1_response_quantile_s(0.5, 1.0, 1.0)
    with pytest.raises(InputError, match="service_cv = -1"):
        q.kingman_wait_s(0.5, 1.0, service_cv=-1.0)
