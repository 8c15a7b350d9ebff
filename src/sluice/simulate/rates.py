"""How many events are meant to arrive, over time."""

import numpy as np

from sluice.errors import InputError
from sluice.model.values import FloatArray, IntArray, Value, floats


class Rates(Value, frozen=True, kw_only=True):
    """`eps[i]` events per second hold from `i * step_s` to `(i + 1) * step_s`."""

    eps: FloatArray
    step_s: float = 1.0

    def __post_init__(self) -> None:
        if not self.step_s > 0:
            raise InputError(f"rates.step_s is {self.step_s}; give a time above 0 s")
        if len(self.eps) == 0:
            raise InputError("rates are empty; give at least one rate")
        bad = np.flatnonzero(~(np.isfinite(self.eps) & (self.eps >= 0)))
        if len(bad):
            where = int(bad[0])
            raise InputError(f"rate {where} is {self.eps[where]}; rates are finite numbers of at least 0 events/s")

    @classmethod
    def constant(cls, eps: float, duration_s: float) -> "Rates":
        return cls(eps=floats([eps]), step_s=duration_s)

    @property
    def duration_s(self) -> float:
        return len(self.eps) * self.step_s

    def counts(self) -> IntArray:
        """Whole events per step; what rounding leaves over is carried to the next step, so none is lost."""
        cumulative = np.concatenate(([0.0], np.cumsum(self.eps * self.step_s)))
        # The small term keeps sums of whole numbers whole in spite of floating point.
        return np.diff(np.floor(cumulative + 1e-9)).astype(np.int64)
