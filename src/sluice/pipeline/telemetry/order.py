"""Which records come in time: decided partition by partition, in the order of the log.

A partition's watermark stands `delay_s` before the newest time its log has shown so far. A record older than the
watermark that the records before it have set is late. So lateness is a property of the log: neither the borders of
batches nor a restart can change it, and a partition that lags behind the others loses nothing.
"""

from typing import NamedTuple

import numpy as np

from sluice.model.values import BoolArray, FloatArray

NOTHING_YET = float("-inf")
"""The newest time of a log that has shown none."""


class InOrder(NamedTuple):
    """One entry a record."""

    before_s: FloatArray
    """The newest time before each."""
    ahead: BoolArray
    late: BoolArray
    newest_s: float
    """After the last."""


def in_order(time_s: FloatArray, newest_s: float, *, delay_s: float, latest_s: float) -> InOrder:
    """Times in the order of the log, NaN where a record has none. A time after `latest_s` is a mistake: believed, it
    would make everything after it late."""
    ahead = time_s > latest_s
    believed = np.where(np.isnan(time_s) | ahead, NOTHING_YET, time_s)
    newest = np.maximum.accumulate(np.concatenate(([newest_s], believed)))
    before_s = newest[:-1]
    return InOrder(before_s, ahead, time_s < before_s - delay_s, float(newest[-1]))
