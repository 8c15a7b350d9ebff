"""Adds a forecast of the arrival rates to what another analyzer finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.analyze.base import Analyzer
from sluice.model import Decision, Partition, Snapshot, Workload, replace
from sluice.model.values import FloatArray, frozen
from sluice.theory.lag_model import LagModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecasting:
    """Models trained beforehand (`sluice pipeline forecast`), one a partition; a partition without one is unknown."""

    wrapped: Analyzer
    models: Mapping[Partition, LagModel]
    step_s: float
    """One step of the models."""

    @property
    def memory_s(self) -> float:
        """How far back `recent` must reach."""
        return max((model.reach for model in self.models.values()), default=0) * self.step_s

    def analyze(self, snapshot: Snapshot, recent: Sequence[Decision]) -> Workload:
        workload = self.wrapped.analyze(snapshot, recent)
        forecast = np.full(len(workload.partitions), np.nan)
        past: dict[int, FloatArray | None] = {0: workload.arrival_eps}
        for i, partition in enumerate(workload.partitions):
            model = self.models.get(partition)
            if model is None:
                continue
            total = model.intercept
            for lag, weight in zip(model.lags, model.weights, strict=True):
                if lag not in past:
                    past[lag] = self._rates_at(workload, lag, recent)
                rates = past[lag]
                total += weight * (np.nan if rates is None else float(rates[i]))
            forecast[i] = max(total, 0.0) if total == total else np.nan
        if np.isnan(forecast).all():
            return workload
        return replace(workload, forecast_eps=frozen(forecast))

    def _rates_at(self, workload: Workload, lag: int, recent: Sequence[Decision]) -> FloatArray | None:
        """The rates `lag` steps ago: of the decision nearest to that time, if one is near enough."""
        time_s = workload.time_s - lag * self.step_s
        near = min(recent, key=lambda decision: abs(decision.time_s - time_s), default=None)
        if (
            near is None
            or abs(near.time_s - time_s) > self.step_s / 2
            or near.workload.partitions != workload.partitions
        ):
            return None
        return near.workload.arrival_eps
