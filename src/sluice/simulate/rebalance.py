"""What each protocol does to a group: which partitions stand still from a change on, and until when."""

import numpy as np

from sluice.model.values import BoolArray, FloatArray, IntArray
from sluice.simulate.memory import NONE
from sluice.simulate.spec import Protocol


def standstill(
    protocol: Protocol,
    now_s: float,
    rebalance_s: float,
    owner: IntArray,
    target: IntArray,
    free_s: FloatArray,
    members: IntArray,
) -> tuple[BoolArray, FloatArray]:
    """(which partitions stop now, when each of them can be read again).

    `free_s` says when each consumer has finished the batch in work: nobody joins a rebalance before that.
    """
    moved = owner != target
    joined_s = max(now_s, float(free_s[members].max(initial=now_s)))
    if protocol is Protocol.EAGER:
        return np.ones(len(owner), dtype=np.bool_), np.full(len(owner), joined_s + rebalance_s)
    if protocol is Protocol.COOPERATIVE:
        # First round: give up what moves; second round: hand it out.
        return moved, np.full(len(owner), joined_s + 2 * rebalance_s)
    finished_s = np.where(owner == NONE, now_s, free_s[owner]) if len(free_s) else np.full(len(owner), now_s)
    return moved, np.maximum(finished_s, now_s) + rebalance_s
