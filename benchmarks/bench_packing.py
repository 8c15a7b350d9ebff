"""How long packers take to plan, and how that grows. Processor time of the best run: neighbours do not count."""

import time
from collections.abc import Callable

import numpy as np
from benchmarks.measure import Measurement

from sluice.theory.arrays import FloatArray
from sluice.theory.packing import PACKERS, bins_needed, least_loaded

FEW, MANY = 10_000, 100_000
TARGET_MS = {FEW: 10.0, MANY: 100.0}


def run() -> list[Measurement]:
    measured = []
    growth = {}
    sort_growth = _ms(lambda: np.argsort(_sizes(MANY), kind="stable")) / _ms(
        lambda: np.argsort(_sizes(FEW), kind="stable")
    )
    for name, took in (("Least-Loaded", _least_loaded), ("MWF", _mwf)):
        for n in (FEW, MANY):
            growth[n] = took(n)
            measured.append(
                Measurement(f"packing: {name}, {n:,} partitions", growth[n], "ms", TARGET_MS[n], at_least=False)
            )
        # Sorting is n log n and pays, as this does, for slower memory where the caches end; n^1.5 would show as 2.5.
        against_sort = growth[MANY] / growth[FEW] / sort_growth
        measured.append(
            Measurement(f"packing: {name}, growth to 10 x, over a sort's", against_sort, "x", 2.0, at_least=False)
        )
    measured.extend(
        Measurement(f"packing: {name}, 100,000 partitions", _packer(name, MANY), "ms", TARGET_MS[MANY], at_least=False)
        for name in ("ffd", "bfd", "wfd", "mbf", "mbfp")
    )
    rate, lag = _loads("small", 10)
    measured.append(
        Measurement(
            "packing: how many consumers, 10 partitions",
            1000.0 * _ms(lambda: bins_needed(rate, lag, 1.0, 1.0), calls=1000),
            "us",
            10.0,
            at_least=False,
        )
    )
    return measured


def _least_loaded(n: int) -> float:
    """The slowest of four kinds of load."""

    def took(kind: str) -> float:
        rate, lag = _loads(kind, n)
        return _ms(lambda: least_loaded(rate, lag, rate_capacity=1.0, lag_capacity=1.0))

    return max(took(kind) for kind in ("small", "large", "skewed", "unrelated"))


def _loads(kind: str, n: int) -> tuple[FloatArray, FloatArray]:
    """Rate and lag in units of a consumer."""
    draw = np.random.default_rng(1)
    match kind:
        case "small":  # twenty to a consumer, rate and lag unrelated
            return draw.uniform(0.0, 0.1, n), draw.uniform(0.0, 0.1, n)
        case "large":  # two to a consumer, lag follows rate
            rate = draw.uniform(0.0, 1.0, n)
            return rate, rate * draw.uniform(0.5, 1.0, n)
        case "skewed":  # few large, many small ones, lag follows rate
            rate = np.minimum(draw.lognormal(-4.0, 1.5, n), 1.0)
            return rate, rate * draw.uniform(0.2, 1.0, n)
    return draw.uniform(0.0, 1.0, n), draw.uniform(0.0, 1.0, n)  # hardest: room for one is no room for the other


def _mwf(n: int) -> float:
    return _packer("mwf", n)


def _packer(name: str, n: int) -> float:
    """One step of a stream: sizes moved by up to 5 % of a consumer since the last one."""
    size = _sizes(n)
    owner = PACKERS[name](size, np.full(n, -1, dtype=np.int64), 1.0)
    later = np.clip(size + np.random.default_rng(2).uniform(-0.05, 0.05, n), 0.0, 1.0)
    return _ms(lambda: PACKERS[name](later, owner, 1.0))


def _sizes(n: int) -> FloatArray:
    return np.random.default_rng(1).uniform(0.0, 1.0, n)


def _ms(work: Callable[[], object], *, calls: int = 1, runs: int = 7) -> float:
    work()
    best = np.inf
    for _ in range(runs):
        begun = time.process_time()
        for _ in range(calls):
            work()
        best = min(best, (time.process_time() - begun) / calls)
    return 1000.0 * best
