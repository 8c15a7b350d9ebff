"""Algorithm 2: as Algorithm 1, but planned for what piles up while the group rebalances.

Phase 1 decides by Algorithm 1 whether to act at all. Phase 2 packs again with the lag that will stand
when the rebalance is over, lag + λ·t_r, so that the first second after it is safe too.
"""

from dataclasses import dataclass
from typing import ClassVar

from sluice.model import Action, Plan, Reason
from sluice.plan.base import PlanContext, hold, propose
from sluice.plan.verdict import (
    NEEDS,
    candidates,
    check_factors,
    grown,
    judge,
    load_of,
    lost,
    reason,
    shrunk,
    warnings_of,
)

_NO_PAUSE = Reason("the rebalance time is not known yet: planned without what piles up during it")
_DEFERRED = (
    "{now} consumers stay: {down} would do now, but {needed} are needed for what piles up in a rebalance of "
    "{pause_s:.3g} s"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TailBinpack:
    f_up: float = 0.9
    f_down: float = 0.4
    name: ClassVar[str] = "tail-binpack"
    # The rebalance time is no need: it cannot be measured before the first rebalance.
    needs: ClassVar[tuple[str, ...]] = NEEDS

    def __post_init__(self) -> None:
        check_factors(self.name, self.f_up, self.f_down)

    def plan(self, context: PlanContext) -> Plan:
        load = load_of(context)
        current = context.workload.assignment
        verdict = judge(load, current, self.f_up, self.f_down)
        why = reason(verdict, load, current, self.f_up, self.f_down)
        warnings = warnings_of(context, verdict.check)
        if verdict.action is Action.HOLD:
            return hold(context, self.name, why, warnings=warnings)
        pause_s = context.workload.rebalance_s
        if pause_s is None:
            pause_s, warnings = 0.0, (*warnings, _NO_PAUSE)
        after = load._replace(lag=load.lag + load.rate * pause_s)
        if verdict.action is not Action.DOWN:
            target = grown(after, current, self.f_up)
        elif (needed := after.needed(self.f_down)) < current.count:
            target = shrunk(after, current, self.f_down)
        else:
            down = verdict.down_count
            numbers = {"now": current.count, "down": down, "needed": needed, "pause_s": pause_s}
            deferred = lost("down", down, _DEFERRED, numbers)
            return hold(context, self.name, deferred.why_not, rejected=(deferred,), warnings=warnings)
        rejected = candidates(verdict, current, self.f_up, self.f_down)
        return propose(context, self.name, target, why, rejected=rejected, warnings=warnings)
