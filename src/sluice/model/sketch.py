"""How latencies are spread, in a few hundred bytes: counts in buckets that grow by a fixed ratio.

Unlike a sampling sketch, counts can be added over consumers and subtracted over time, so a report that was missed costs
nothing and any interval can be asked about afterwards.
"""

from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.model.values import FloatArray, IntArray, Value, frozen, ints

SMALLEST_S = 1e-5
"""Everything faster than this is in bucket 0."""
GROWTH = 1.04
"""Upper edge of a bucket over its lower edge: a quantile is right to within 2 %."""
_LOG_GROWTH = float(np.log(GROWTH))


def buckets_of(latency_s: Any) -> IntArray:
    """The bucket of each latency. A negative one (clocks differ) counts as 0, an unknown one is refused."""
    latency = np.maximum(np.asarray(latency_s, dtype=np.float64), SMALLEST_S)
    if not np.isfinite(latency).all():
        raise InputError("a latency is not a finite number; leave unknown latencies out")
    # The small step back keeps an exact edge in its own bucket in spite of rounding.
    return np.ceil(np.log(latency / SMALLEST_S) / _LOG_GROWTH - 1e-9).astype(np.int64)


class LatencySketch(Value, frozen=True, kw_only=True):
    """`count[i]` latencies fell into `bucket[i]`; buckets ascend and none is empty."""

    bucket: IntArray
    count: IntArray

    @classmethod
    def of(cls, latency_s: Any) -> "LatencySketch":
        bucket, count = np.unique(buckets_of(latency_s), return_counts=True)
        return cls(bucket=ints(bucket), count=ints(count))

    @classmethod
    def empty(cls) -> "LatencySketch":
        return cls(bucket=ints([]), count=ints([]))

    @property
    def total(self) -> int:
        return int(self.count.sum())

    def plus(self, other: "LatencySketch") -> "LatencySketch":
        """Both together: another consumer, or a later interval."""
        return self._combined(other, 1)

    def minus(self, earlier: "LatencySketch") -> "LatencySketch":
        """What came after `earlier`, a reading of the same counter."""
        return self._combined(earlier, -1)

    def quantile_s(self, ratio: float) -> float | None:
        """The latency that `ratio` of all stay within; None when there is none."""
        if not 0 <= ratio <= 1:
            raise InputError(f"quantile {ratio} is not between 0 and 1")
        if not self.total:
            return None
        rank = max(int(np.ceil(ratio * self.total)), 1)
        bucket = self.bucket[np.searchsorted(np.cumsum(self.count), rank)]
        return float(SMALLEST_S * GROWTH ** (float(bucket) - 0.5))

    def within_ratio(self, limit_s: float) -> float | None:
        """The share of latencies of at most `limit_s`; the bucket the limit falls into is counted in proportion."""
        if not self.total:
            return None
        edge: FloatArray = SMALLEST_S * GROWTH ** np.stack([self.bucket - 1.0, self.bucket + 0.0])
        share = np.clip((limit_s - edge[0]) / (edge[1] - edge[0]), 0.0, 1.0)
        return float((self.count * share).sum() / self.total)

    def _combined(self, other: "LatencySketch", sign: int) -> "LatencySketch":
        bucket, where = np.unique(np.concatenate([self.bucket, other.bucket]), return_inverse=True)
        count = np.zeros(len(bucket), dtype=np.int64)
        np.add.at(count, where, np.concatenate([self.count, sign * other.count]))
        if (count < 0).any():
            raise InputError("the earlier sketch counts more than the later one; they are not of the same counter")
        kept = count > 0
        return LatencySketch(bucket=frozen(bucket[kept].astype(np.int64)), count=frozen(count[kept]))
