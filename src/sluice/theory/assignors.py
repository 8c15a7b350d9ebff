"""Kafka's own assignors: blind to load. They count partitions, in the order of topic and number.

Consumers are numbered in the order of their member ids. Every consumer subscribes to every topic.
"""

from typing import Any

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import IntArray


def range_assignor(topic: Any, consumers: int) -> IntArray:
    """Topic by topic, a contiguous run of partitions each; the first consumers take the odd ones.

    `topic[i]` is the topic's number of partition i; partitions are sorted by topic, then number.
    """
    topics = _sorted_topics(topic, consumers)
    _, first, size = np.unique(topics, return_index=True, return_counts=True)
    place = np.arange(len(topics)) - np.repeat(first, size)
    share, extra = np.repeat(size // consumers, size), np.repeat(size % consumers, size)
    # The first `extra` consumers hold share + 1 each, the others share.
    in_head = place < extra * (share + 1)
    return np.where(in_head, place // (share + 1), extra + (place - extra * (share + 1)) // np.maximum(share, 1))


def round_robin(topic: Any, consumers: int) -> IntArray:
    """All partitions of all topics dealt out one by one, like cards."""
    topics = _sorted_topics(topic, consumers)
    return np.arange(len(topics), dtype=np.int64) % consumers


def cooperative_sticky(topic: Any, consumers: int, owner: Any) -> IntArray:
    """Counts differ by one at most, and no more partitions move than that needs.

    `owner[i]` is the consumer of partition i now; -1, or a number of a consumer that has left, is nobody.
    A consumer over its share keeps its first partitions. The rest is dealt out in turn, first to
    those below the share.
    """
    topics = _sorted_topics(topic, consumers)
    now = np.array(owner, dtype=np.int64)
    if now.shape != topics.shape:
        raise InputError(f"owner has shape {now.shape} but topic {topics.shape}; give one of each a partition")
    share, extra = divmod(len(topics), consumers)
    held = np.bincount(now[(now >= 0) & (now < consumers)], minlength=consumers)
    quota = np.minimum(held, share)
    over = np.flatnonzero(held > share)[:extra]
    quota[over] += 1

    target = np.full(len(topics), -1, dtype=np.int64)
    kept = np.zeros(consumers, dtype=np.int64)
    for i, c in enumerate(now.tolist()):
        if 0 <= c < consumers and kept[c] < quota[c]:
            target[i] = c
            kept[c] += 1
    target[target < 0] = _turns(kept, share, extra - len(over))
    return target


def _turns(kept: IntArray, share: int, extra: int) -> IntArray:
    """Who takes the next free partition, until all hold `share` and `extra` of them one more."""
    turns: list[int] = []
    missing = share - np.minimum(kept, share)
    while missing.any():
        below = np.flatnonzero(missing)
        turns.extend(below.tolist())
        missing[below] -= 1
    turns.extend(np.flatnonzero(kept <= share)[:extra].tolist())
    return np.array(turns, dtype=np.int64)


def _sorted_topics(topic: Any, consumers: int) -> IntArray:
    topics = np.asarray(topic, dtype=np.int64)
    if consumers < 1:
        raise InputError(f"consumers = {consumers} cannot own a partition; give at least 1")
    if topics.ndim != 1 or (np.diff(topics) < 0).any():
        raise InputError("topic must be one row of numbers in ascending order; sort partitions by topic and number")
    return topics
