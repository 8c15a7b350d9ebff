"""Murmur2 as Kafka's Java client computes it: which partition a key belongs to.

The algorithm is Austin Appleby's public-domain MurmurHash2 (32 bit) with Kafka's seed. Arithmetic is done in 64 bits
and cut back to 32, since compiled unsigned numbers widen when they are multiplied.
"""

import numpy as np
from numpy.typing import NDArray

from sluice.theory.arrays import IntArray
from sluice.theory.kernel import compiled

_SEED = 0x9747B28C
_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


@compiled
def _hash(data: NDArray[np.uint8], start: int, stop: int) -> np.uint64:
    mask, m, twentyfour = np.uint64(_MASK), np.uint64(_M), np.uint64(24)
    length = stop - start
    h = np.uint64(_SEED) ^ np.uint64(length)
    whole = start + (length // 4) * 4
    for at in range(start, whole, 4):
        k = (
            np.uint64(data[at])
            | (np.uint64(data[at + 1]) << np.uint64(8))
            | (np.uint64(data[at + 2]) << np.uint64(16))
            | (np.uint64(data[at + 3]) << twentyfour)
        )
        k = (k * m) & mask
        k ^= k >> twentyfour
        k = (k * m) & mask
        h = ((h * m) & mask) ^ k
    rest = stop - whole
    if rest > 0:
        for byte in range(rest):
            h ^= np.uint64(data[whole + byte]) << np.uint64(8 * byte)
        h = (h * m) & mask
    h ^= h >> np.uint64(13)
    h = (h * m) & mask
    return h ^ (h >> np.uint64(15))


@compiled
def partitions_of_keys(data: NDArray[np.uint8], offsets: NDArray[np.int32], count: int) -> IntArray:
    """Key i is `data[offsets[i]:offsets[i + 1]]` (Arrow's layout of strings); its partition among `count`."""
    made = np.empty(len(offsets) - 1, dtype=np.int64)
    for i in range(len(made)):
        positive = _hash(data, offsets[i], offsets[i + 1]) & np.uint64(0x7FFFFFFF)
        made[i] = np.int64(positive) % count
    return made


def partition_of_key(key: bytes, count: int) -> int:
    """The partition Kafka's Java client sends `key` to when the topic has `count` partitions."""
    data = np.frombuffer(key, dtype=np.uint8)
    return int(partitions_of_keys(data, np.array([0, len(key)], dtype=np.int32), count)[0])
