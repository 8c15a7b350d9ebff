"""How large events are and how long they take."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from sluice.errors import InputError
from sluice.model.values import FloatArray


class Sizes(Protocol):
    """A distribution of event sizes. An array of one entry means that all events are of one size."""

    def draw(self, count: int, random: np.random.Generator) -> FloatArray: ...


class Service(Protocol):
    """A distribution of service times. An array of one entry means that all events take the same."""

    @property
    def mean_s(self) -> float: ...

    def draw(self, count: int, size_bytes: FloatArray, random: np.random.Generator) -> FloatArray: ...


def _positive(name: str, value: float) -> None:
    if not 0 < value < float("inf"):
        raise InputError(f"{name} is {value}; give a finite number above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedSize:
    size_bytes: float = 100.0

    def __post_init__(self) -> None:
        _positive("sizes.size_bytes", self.size_bytes)

    def draw(self, count: int, random: np.random.Generator) -> FloatArray:
        return _for_all(self.size_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class LognormalSize:
    mean_bytes: float
    cv: float

    def __post_init__(self) -> None:
        _positive("sizes.mean_bytes", self.mean_bytes)
        _positive("sizes.cv", self.cv)

    def draw(self, count: int, random: np.random.Generator) -> FloatArray:
        return _lognormal(self.mean_bytes, self.cv, count, random)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedService:
    mean_s: float

    def __post_init__(self) -> None:
        _positive("service.mean_s", self.mean_s)

    def draw(self, count: int, size_bytes: FloatArray, random: np.random.Generator) -> FloatArray:
        return _for_all(self.mean_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialService:
    mean_s: float

    def __post_init__(self) -> None:
        _positive("service.mean_s", self.mean_s)

    def draw(self, count: int, size_bytes: FloatArray, random: np.random.Generator) -> FloatArray:
        return random.exponential(self.mean_s, count)


@dataclass(frozen=True, slots=True, kw_only=True)
class LognormalService:
    mean_s: float
    cv: float

    def __post_init__(self) -> None:
        _positive("service.mean_s", self.mean_s)
        _positive("service.cv", self.cv)

    def draw(self, count: int, size_bytes: FloatArray, random: np.random.Generator) -> FloatArray:
        return _lognormal(self.mean_s, self.cv, count, random)


@dataclass(frozen=True, slots=True, kw_only=True)
class PerByteService:
    """`base_s` for any event and `s_per_byte` for each of its bytes; `mean_s` is the mean to plan with."""

    s_per_byte: float
    base_s: float
    mean_s: float

    def __post_init__(self) -> None:
        _positive("service.s_per_byte", self.s_per_byte)
        _positive("service.mean_s", self.mean_s)
        if not self.base_s >= 0:
            raise InputError(f"service.base_s is {self.base_s}; give a time of at least 0 s")

    def draw(self, count: int, size_bytes: FloatArray, random: np.random.Generator) -> FloatArray:
        return self.base_s + self.s_per_byte * size_bytes


@lru_cache(maxsize=64)
def _for_all(value: float) -> FloatArray:
    """One entry that stands for all events; asked for each tick, so made once and never written to."""
    return np.array([value])


def _lognormal(mean: float, cv: float, count: int, random: np.random.Generator) -> FloatArray:
    sigma2 = np.log1p(cv * cv)
    return random.lognormal(np.log(mean) - sigma2 / 2, np.sqrt(sigma2), count)
