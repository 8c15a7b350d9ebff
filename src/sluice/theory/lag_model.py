"""Short-horizon forecasts as weighted sums of past values: one form for naive, seasonal, drifting and fitted ones.

forecast(t + horizon) = intercept + sum of weight_i * y[t - lag_i], never below 0. Lags count steps back from now.
"""

from typing import NamedTuple

import numpy as np

from sluice.theory.arrays import FloatArray, IntArray


class LagModel(NamedTuple):
    """A forecast `horizon` steps ahead."""

    horizon: int
    lags: tuple[int, ...]
    weights: tuple[float, ...]
    intercept: float = 0.0

    @property
    def reach(self) -> int:
        """Steps of the past it looks at, now included."""
        return max(self.lags) + 1


def naive(horizon: int) -> LagModel:
    """As it is now."""
    return LagModel(horizon, (0,), (1.0,))


def seasonal_naive(horizon: int, season: int) -> LagModel:
    """As it was a season ago."""
    # A horizon of more than a season looks further back, never into the future.
    return LagModel(horizon, (-horizon % season,), (1.0,))


def moving_mean(horizon: int, steps: int) -> LagModel:
    return LagModel(horizon, tuple(range(steps)), (1.0 / steps,) * steps)


def drift(horizon: int, steps: int) -> LagModel:
    """The slope of the last `steps` steps goes on."""
    slope = horizon / steps
    return LagModel(horizon, (0, steps), (1.0 + slope, -slope))


def fitted(series: FloatArray, horizon: int, lags: tuple[int, ...], ridge: float = 1e-3) -> LagModel | None:
    """Least squares on the series with a little shrinkage towards naive; None when it is too short for that.

    Shrinking the difference to naive instead of the weights themselves leaves a series without structure at naive.
    """
    reach = max(lags) + 1
    origins = np.arange(reach - 1, len(series) - horizon)
    if len(origins) < 3 * len(lags):
        return None
    past = series[origins[:, None] - np.array(lags)]
    now = series[origins]
    target = series[origins + horizon] - now
    mean_past, mean_target = past.mean(axis=0), float(target.mean())
    centred = past - mean_past
    gram = centred.T @ centred
    scale = float(np.trace(gram)) / len(lags)
    if not scale > 0:
        return None
    step = np.linalg.solve(gram + ridge * scale * np.eye(len(lags)), centred.T @ (target - mean_target))
    intercept = mean_target - float(mean_past @ step)
    weights = step + (np.array(lags) == 0)
    return LagModel(horizon, lags, tuple(weights.tolist()), intercept)


def forecasts(series: FloatArray, model: LagModel, origins: IntArray) -> FloatArray:
    """The forecast made at each origin, from the past alone; NaN where there is too little of it."""
    enough = origins >= model.reach - 1
    made = np.full(len(origins), np.nan)
    past = series[origins[enough][:, None] - np.array(model.lags)]
    made[enough] = np.maximum(model.intercept + past @ np.array(model.weights), 0.0)
    return made
