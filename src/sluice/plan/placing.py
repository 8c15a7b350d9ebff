"""From numbers of bins and consumers to assignments with names."""

import numpy as np

from sluice.model import NOBODY, Assignment
from sluice.model.assignment import fresh_names
from sluice.model.values import FloatArray, IntArray, frozen


def is_shared(assignment: Assignment) -> bool:
    """Members share one subscription: there are some, and nobody owns a partition."""
    return assignment.count > 0 and not (assignment.owner >= 0).any()


def sized(current: Assignment, count: int, owner: IntArray | None = None) -> Assignment:
    """`count` consumers: the first of the current ones stay, newcomers follow; idle ones remain.

    `owner` uses that numbering; without it nobody owns anything, as in a group that shares one subscription.
    """
    kept = current.consumers[:count]
    names = (*kept, *fresh_names(current.consumers, count - len(kept)))
    if owner is None:
        owner = np.full(len(current.partitions), NOBODY, dtype=np.int64)
    return Assignment(partitions=current.partitions, consumers=names, owner=frozen(owner))


def packed(current: Assignment, bins: IntArray, count: int, weight: FloatArray) -> Assignment:
    """`bins` named after the current consumers so that the most `weight` stays; only the count where all share."""
    if is_shared(current):
        return sized(current, count)
    return current.with_bins(bins, count, weight)
