"""The packers of variable-item-size bin packing: bytes/s of the partitions against C bytes/s a consumer.

C is a share of what a consumer can read, C̄: the rest is there to catch up after a move. With a plan
every T seconds and a pause of t_r, T·C < (T - t_r)·C̄ must hold.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sluice.errors import InputError, did_you_mean
from sluice.model import Assignment, Plan, Reason
from sluice.model.values import FloatArray, IntArray
from sluice.plan.base import PlanContext, hold, propose
from sluice.plan.placing import is_shared, sized
from sluice.theory.packing import PACKERS

_PLAN = (
    "{algorithm} packs {rate_bps:.6g} bytes/s by {capacity_bps:.6g} into {needed} consumers, {now} are there; "
    "Rscore {rscore:.3g}"
)
_WAIT = "the next packing is due at {due_s:.6g} s, and no consumer is above {limit_bps:.6g} bytes/s"
_OVERSIZE = (
    "{partitions} partitions bring more than the {limit_bps:.6g} bytes/s a consumer can read: "
    "needs more partitions or a faster consumer"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesPacking:
    algorithm: str
    capacity_ratio: float = 0.75
    """C as a share of C̄."""
    every_s: float = 30.0
    """Time between packings; 0: every tick. A consumer above C̄ is no reason to wait."""
    needs: ClassVar[tuple[str, ...]] = ("arrival_bps", "capacity_bps")

    def __post_init__(self) -> None:
        if self.algorithm not in PACKERS:
            raise InputError(f"packer {self.algorithm!r} is unknown; {did_you_mean(self.algorithm, PACKERS)}")
        if not 0 < self.capacity_ratio <= 1:
            raise InputError(
                f"{self.name}: capacity_ratio is {self.capacity_ratio}; give a share above 0 and at most 1"
            )
        if not 0 <= self.every_s < math.inf:
            raise InputError(f"{self.name}: every_s is {self.every_s}; give a time of at least 0 s")

    @property
    def name(self) -> str:
        return self.algorithm

    def plan(self, context: PlanContext) -> Plan:
        workload = context.workload
        current, rate = workload.assignment, workload.arrival_bps
        assert rate is not None  # declared in `needs`
        assert workload.capacity_bps is not None
        limit_bps = workload.capacity_bps
        heavy = int((rate > limit_bps).sum())
        warnings = (Reason(_OVERSIZE, {"partitions": heavy, "limit_bps": limit_bps}),) if heavy else ()
        if not self._due(context) and not _overloaded(current, rate, limit_bps):
            due_s = (math.floor(workload.time_s / self.every_s) + 1) * self.every_s
            return hold(context, self.name, Reason(_WAIT, {"due_s": due_s, "limit_bps": limit_bps}), warnings=warnings)
        capacity_bps = limit_bps * self.capacity_ratio
        owner = PACKERS[self.algorithm](rate, current.owner, capacity_bps)
        target = _target(current, owner)
        reason = Reason(
            _PLAN,
            {
                "algorithm": self.algorithm,
                "rate_bps": float(rate.sum()),
                "capacity_bps": capacity_bps,
                "needed": target.count,
                "now": current.count,
                "rscore": float(rate[current.moved(target)].sum()) / capacity_bps,
            },
        )
        return propose(context, self.name, target, reason, warnings=warnings)

    def _due(self, context: PlanContext) -> bool:
        if self.every_s == 0 or not context.recent:
            return True
        last_s = context.recent[-1].time_s
        return math.floor(context.workload.time_s / self.every_s) > math.floor(last_s / self.every_s)


def _target(current: Assignment, owner: IntArray) -> Assignment:
    if is_shared(current):
        return sized(current, len(np.unique(owner)))
    return current.with_owners(owner)


def _overloaded(current: Assignment, rate: FloatArray, limit_bps: float) -> bool:
    """Somebody is above the limit who could give a partition away, or a partition has no owner."""
    if is_shared(current):
        return float(rate.sum()) > limit_bps * current.count
    if current.owner.min(initial=0) < 0:
        return True
    held = np.bincount(current.owner, minlength=current.count)
    return bool(((current.load(rate) > limit_bps) & (held > 1)).any())
