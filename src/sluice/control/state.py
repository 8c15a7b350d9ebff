"""Where a controller stands with one group, and when it moves on. Pure.

    SYNCHRONIZE ──known, settled──▶ SENTINEL ──a plan asks for a change──▶ REASSIGN ──handed over──▶ MANAGE
         ▲                            ▲                                                               │
         │                            └────────────done and settled, or overdue──────────────────────┘
         └── the lead lost or just won, or the group cannot be seen: from anywhere

In SENTINEL it watches. In MANAGE a change is under way and no other is begun. In SYNCHRONIZE it does nothing until it
has seen what the group really does: after a start, after its predecessor's crash, after a time without data.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from sluice.model import Action


class State(StrEnum):
    SENTINEL = "sentinel"
    REASSIGN = "reassign"
    MANAGE = "manage"
    SYNCHRONIZE = "synchronize"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state, since when, and under which leadership; without one (None) it stays in SYNCHRONIZE."""

    state: State = State.SYNCHRONIZE
    since_s: float
    epoch: int | None = None
    done: bool = True
    """What was handed over last is done, by its receipt."""

    def observed(self, *, time_s: float, epoch: int | None, known: bool, settled: bool, limit_s: float) -> "Standing":
        """After a look at the group; `limit_s` is how long a change may take before it is looked at afresh."""
        if epoch is None or epoch != self.epoch or not known:
            return Standing(since_s=time_s if self.state is not State.SYNCHRONIZE else self.since_s, epoch=epoch)
        match self.state:
            case State.SYNCHRONIZE if settled:
                return self._now(State.SENTINEL, time_s)
            case State.MANAGE if settled and (self.done or time_s - self.since_s > limit_s):
                return self._now(State.SENTINEL, time_s)
            case _:
                return self

    def planned(self, action: Action, time_s: float) -> "Standing":
        """After a plan: only a sentinel follows one."""
        if self.state is State.SENTINEL and action is not Action.HOLD:
            return self._now(State.REASSIGN, time_s)
        return self

    def applied(self, *, complete: bool, time_s: float) -> "Standing":
        """After a plan was handed to the executor. Even a complete one is seen to take effect before the next."""
        if self.state is State.REASSIGN:
            return replace(self._now(State.MANAGE, time_s), done=complete)
        return replace(self, done=complete) if self.state is State.MANAGE else self

    def _now(self, state: State, time_s: float) -> "Standing":
        return replace(self, state=state, since_s=time_s)
