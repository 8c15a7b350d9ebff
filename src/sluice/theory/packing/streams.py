"""Streams of partition sizes that change a little from step to step, to compare packers on."""

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import FloatArray


def size_stream(
    *,
    partitions: int,
    steps: int,
    delta: float,
    seed: int,
    start: float | None = None,
    clamp: bool = True,
    whole: bool = False,
    capacity: float = 100.0,
) -> FloatArray:
    """Sizes, one row a step, in the units of `capacity`; `delta` and `start` are percent of it.

    The first row is uniform in 0 … 100 %, or `start` for all. Each further one adds a number uniform in
    -delta … delta to every size; no size falls below 0 or, with `clamp`, rises above the capacity.
    With `whole` every number drawn is a whole percent, both ends as likely as what lies between.
    """
    for name, number, least in (("partitions", partitions, 1), ("steps", steps, 1), ("delta", delta, 0)):
        if not least <= number < np.inf:
            raise InputError(f"{name} = {number}; give a number of at least {least}")
    random = np.random.default_rng(seed)

    def drawn(low: float, high: float) -> FloatArray:
        if whole:
            return random.integers(int(low), int(high), partitions, endpoint=True).astype(np.float64)
        return random.uniform(low, high, partitions)

    sizes = np.empty((steps, partitions))
    sizes[0] = (drawn(0.0, 100.0) if start is None else start) * capacity / 100.0
    top = capacity if clamp else np.inf
    for k in range(1, steps):
        sizes[k] = np.clip(sizes[k - 1] + drawn(-delta, delta) * capacity / 100.0, 0.0, top)
    return sizes
