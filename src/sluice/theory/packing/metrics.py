"""How packings are compared: what moves, how many bins more than needed, and who is beaten by nobody."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import BoolArray
from sluice.theory.packing.base import check_capacity


def rscore(size: Any, before: Any, after: Any, capacity: float) -> float:
    """Load of the items that change owner, in bins: the seconds of one consumer's work per second of rebalance.

    A first assignment (no owner before) or a departure (none after) is no migration.
    """
    check_capacity("capacity", capacity)
    size, before, after = np.asarray(size), np.asarray(before), np.asarray(after)
    moved = (before >= 0) & (after >= 0) & (before != after)
    return float(size[moved].sum()) / capacity


def cbs(counts: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """Per algorithm the mean over steps of (its bins - the fewest of any) / the fewest.

    A step in which the fewest is 0 (nothing to pack) counts as 0 for everyone.
    """
    steps = {len(row) for row in counts.values()}
    if len(steps) != 1 or 0 in steps:
        raise InputError(f"counts has rows of {sorted(steps)} steps; give the same number of steps for every algorithm")
    table = np.array(list(counts.values()), dtype=np.float64)
    fewest = table.min(axis=0)
    excess = (table - fewest) / np.where(fewest > 0.0, fewest, 1.0)
    return dict(zip(counts, excess.mean(axis=1).tolist(), strict=True))


def pareto_front(points: Any) -> BoolArray:
    """Which rows no other row beats: none is at most as large everywhere and smaller somewhere."""
    rows = np.asarray(points, dtype=np.float64)
    no_larger = np.all(rows[:, None, :] <= rows[None, :, :], axis=2)
    smaller = np.any(rows[:, None, :] < rows[None, :, :], axis=2)
    front: BoolArray = ~np.any(no_larger & smaller, axis=0)
    return front
