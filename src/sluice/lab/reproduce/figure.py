"""Figures as plain data, in the terms of the plotting library; colours and fonts belong to the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Trace = Mapping[str, Any]
POINTS = 500
"""Of a curve: more than a screen has columns for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One chart: what it shows, its traces and axes."""

    title: str
    hint: str = ""
    traces: tuple[Trace, ...]
    x: str = ""
    y: str = ""
    layout: Mapping[str, Any] = field(default_factory=dict)


def line(name: str, x: Any, y: Any, *, steps: bool = False) -> Trace:
    """A curve; long ones are thinned to the peak of neighbours (steps: to every n-th point)."""
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    width = -(-len(up) // POINTS)
    if width > 1:
        whole = len(up) // width * width
        across = across[:whole:width]
        up = up[:whole:width] if steps else up[:whole].reshape(-1, width).max(axis=1)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": _plain(across),
        "y": _plain(up),
        "line": {"width": 2, "shape": "hv" if steps else "linear"},
    }


def marks(name: str, x: Sequence[float], y: Sequence[float], labels: Sequence[str]) -> Trace:
    """Single points with their names."""
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": name,
        "x": _plain(x),
        "y": _plain(y),
        "text": list(labels),
        "textposition": "top center",
        "marker": {"size": 9},
    }


def bars(name: str, x: Sequence[str], y: Sequence[float]) -> Trace:
    return {"type": "bar", "name": name, "x": list(x), "y": _plain(y)}


def box(name: str, values: Any) -> Trace:
    """Quartiles and whiskers, by their numbers: the page need not hold every sample."""
    low, first, middle, third, high = (float(v) for v in np.quantile(np.asarray(values), [0.05, 0.25, 0.5, 0.75, 0.95]))
    return {
        "type": "box",
        "name": name,
        "x": [name],
        "lowerfence": [low],
        "q1": [first],
        "median": [middle],
        "q3": [third],
        "upperfence": [high],
    }


def cdf(name: str, seconds: Any, shares: Any) -> Trace:
    """Share of events, in percent, by latency."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": _plain(seconds),
        "y": _plain(100.0 * np.asarray(shares)),
        "line": {"width": 2},
    }


def _plain(values: Any) -> list[float | None]:
    return [round(v, 4) if v == v else None for v in np.asarray(values, dtype=np.float64).tolist()]
