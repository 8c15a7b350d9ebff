"""From a rate's settings to its numbers: events per second, step by step."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice.errors import InputError
from sluice.settings.rate import ConstantRate, KnotsRate, Rate, TraceRate
from sluice.settings.trace import RateTrace, read_rates


def rate_curve(rate: Rate, duration_s: float, seed: int) -> RateTrace:
    """The rate over the whole run; only noise depends on the seed."""
    if isinstance(rate, ConstantRate):
        return RateTrace(1.0, np.full(math.ceil(duration_s), rate.eps, dtype=np.float64))
    if isinstance(rate, KnotsRate):
        return _knots(rate, duration_s, seed)
    if not Path(rate.file).is_file() and rate.otherwise is not None:
        return rate_curve(rate.otherwise, duration_s, seed)
    return _trace(rate, duration_s)


def _knots(rate: KnotsRate, duration_s: float, seed: int) -> RateTrace:
    second = np.arange(math.ceil(duration_s)) + 0.5
    at = np.array([point[0] for point in rate.points])
    level = np.array([point[1] for point in rate.points])
    if rate.interpolation == "linear":
        eps = np.interp(second, at, level)
    else:
        left = np.clip(np.searchsorted(at, second, side="right") - 1, 0, len(at) - 2)
        share = np.clip((second - at[left]) / (at[left + 1] - at[left]), 0.0, 1.0)
        eps = level[left] + (level[left + 1] - level[left]) * (1.0 - np.cos(np.pi * share)) / 2.0
    if rate.noise_eps:
        eps = np.maximum(eps + np.random.default_rng([seed, 1]).normal(0.0, rate.noise_eps, len(eps)), 0.0)
    return RateTrace(1.0, np.ceil(eps) if rate.round_up else eps)


def _trace(rate: TraceRate, duration_s: float) -> RateTrace:
    step_s, values = read_rates(Path(rate.file))
    step_s = rate.step_s or step_s
    values = values[int(rate.start_s / step_s) :]
    eps = (values / step_s if rate.per == "row" else values) * rate.speed_up
    step_s /= rate.speed_up
    # Half a step of grace: 7,200 rows of one second are a run of 7,200 s however they were counted.
    if len(eps) * step_s < duration_s - step_s / 2:
        raise InputError(
            f"duration_s is {duration_s:g}, but trace {rate.file} lasts only {len(eps) * step_s:g} s from "
            f"start_s {rate.start_s:g}; shorten one or lengthen the other"
        )
    eps = eps[: math.ceil(duration_s / step_s)]
    if rate.peak_eps is not None:
        eps = _scaled(eps, rate.peak_eps, rate.file)
    return RateTrace(step_s, eps)


def _scaled(eps: NDArray[np.float64], peak_eps: float, file: str) -> NDArray[np.float64]:
    highest = float(eps.max())
    if not highest > 0:
        raise InputError(f"trace {file} is 0 throughout; it cannot be scaled to a peak of {peak_eps:g}")
    return eps * (peak_eps / highest)
