"""One partition's series: candidates, an honest comparison, and the model that is kept.

Every forecast in a comparison is made from what came before it. The second half of the series is walked through: its
first part chooses the model, its last part, which had no say in the choice, tells how good it is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.model.values import FloatArray
from sluice.theory.lag_model import LagModel, drift, fitted, forecasts, moving_mean, naive, seasonal_naive

NAIVE, SEASONAL = "naive", "seasonal-naive"
_FOLDS = 5
"""A fitted model is fitted anew this often on the way through each part, to what was known by then."""
_LEAST_STEPS = 40
_Make = Callable[[FloatArray], LagModel | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastSpec:
    """Times in seconds; a step is one value of the series."""

    step_s: int = 10
    horizon_s: int = 30
    season_s: int | None = None
    """A day, an hour: what the load repeats after."""
    reach_s: int = 600
    """How far a model may look back: the controller must remember as long."""

    def __post_init__(self) -> None:
        if self.step_s < 1:
            raise InputError(f"step_s is {self.step_s}; give at least 1 s")
        for name in ("horizon_s", "season_s", "reach_s"):
            value = getattr(self, name)
            if value is not None and (value < self.step_s or value % self.step_s):
                raise InputError(f"{name} is {value}, no multiple of step_s {self.step_s}; make it one")

    @property
    def horizon(self) -> int:
        return self.horizon_s // self.step_s

    @property
    def season(self) -> int | None:
        return None if self.season_s is None else self.season_s // self.step_s


def trained(series: FloatArray, spec: ForecastSpec) -> dict[str, Any]:
    """The row of the model table: which model, its weights, and its error beside those of the simple ones.

    Errors are NaN where the series is too short to judge by; then the model is naive.
    """
    if len(series) < _LEAST_STEPS:
        return _row(NAIVE, naive(spec.horizon), {}, len(series))
    makers = dict(_candidates(spec))
    middle, last = len(series) // 2, 3 * len(series) // 4
    chosen = _errors(series, makers, middle, last, spec.horizon)
    # What looks further back than the controller remembers may serve as a yardstick, not as a model.
    most = spec.reach_s // spec.step_s
    models = {name: make(series) for name, make in makers.items() if name in chosen}
    usable = {name: model for name, model in models.items() if model is not None and model.reach <= most}
    # Of equals the first, which is the simplest.
    best = min(usable, key=lambda name: chosen[name])
    judged = _errors(
        series,
        {name: makers[name] for name in makers if name in (best, NAIVE, SEASONAL)},
        last,
        len(series),
        spec.horizon,
    )
    return _row(best, usable[best], judged, len(series))


def _candidates(spec: ForecastSpec) -> Iterator[tuple[str, _Make]]:
    """Simple ones first."""
    horizon, season, reach = spec.horizon, spec.season, spec.reach_s // spec.step_s
    yield NAIVE, partial(_as_is, naive(horizon))
    if season is not None:
        yield SEASONAL, partial(_as_is, seasonal_naive(horizon, season))
    for steps in (3, 6, 12):
        if steps < reach:
            yield f"mean-{steps}", partial(_as_is, moving_mean(horizon, steps))
            yield f"drift-{steps}", partial(_as_is, drift(horizon, steps))
            yield f"ar-{steps}", partial(_fit, horizon, tuple(range(steps)))
    if season is not None and season > 7:
        ago = -horizon % season
        lags = tuple(sorted({0, 1, 2, 3, 4, 5, max(ago - 1, 0), ago, ago + 1}))
        yield "ar-seasonal", partial(_fit, horizon, lags)


def _as_is(model: LagModel, series: FloatArray) -> LagModel | None:
    return model if len(series) >= model.reach else None


def _fit(horizon: int, lags: tuple[int, ...], series: FloatArray) -> LagModel | None:
    return fitted(series, horizon, lags)


def _errors(series: FloatArray, makers: Mapping[str, _Make], first: int, last: int, horizon: int) -> dict[str, float]:
    """Mean absolute error of each candidate for the targets from `first` to `last`; none for one that cannot judge."""
    borders = np.linspace(first, last, _FOLDS + 1).astype(np.int64)
    found: dict[str, float] = {}
    for name, make in makers.items():
        errors = []
        for start, stop in pairwise(borders.tolist()):
            # The first forecast of a fold is made `horizon` steps before its target: nothing later may be known.
            model = make(series[: start - horizon + 1])
            targets = np.arange(start, stop)
            if model is None:
                errors.append(np.full(len(targets), np.nan))
            else:
                errors.append(np.abs(forecasts(series, model, targets - horizon) - series[targets]))
        error = float(np.concatenate(errors).mean())
        if error == error:
            found[name] = error
    return found


def _row(name: str, model: LagModel, judged: Mapping[str, float], steps: int) -> dict[str, Any]:
    error, simple = judged.get(name), judged.get(NAIVE)
    return {
        "model": name,
        "horizon": model.horizon,
        "lags": list(model.lags),
        "weights": list(model.weights),
        "intercept": model.intercept,
        "steps": steps,
        "mae_eps": error,
        "naive_mae_eps": simple,
        "seasonal_mae_eps": judged.get(SEASONAL),
        # Against naive: 0 no better, 1 perfect.
        "skill": 1.0 - error / simple if error is not None and simple else None,
    }
