"""Re-plans a recorded history with another policy.

At every recorded tick the other policy sees exactly what the recorded one saw, its own past included: the group as it
really stood, and what was really done before. So the difference is the policies' alone, and a policy replayed on its
own journal changes nothing.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from sluice.control.loop import MEMORY, remember
from sluice.errors import InputError
from sluice.model import Action, Decision, Objective, Plan, Topology
from sluice.plan.base import PlanContext, Policy, memory_s


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replayed:
    """One recorded decision and the plan that the other policy would have made."""

    decision: Decision
    plan: Plan

    @property
    def differs(self) -> bool:
        recorded = self.decision.plan
        return recorded.action is not self.plan.action or not recorded.target.same_as(self.plan.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a policy planned over a whole journal."""

    policy: str
    up: int
    down: int
    reassign: int
    hold: int
    consumers_mean: float


def replay(
    decisions: Iterable[Decision],
    policy: Policy,
    objective: Objective | None = None,
    memory: int = MEMORY,
    topology: Topology | None = None,
) -> Iterator[Replayed]:
    """`objective` overrules the recorded one, and is needed where none was recorded; a topology is never recorded."""
    recent: dict[str, deque[Decision]] = {}
    seconds = memory_s(policy)
    for tick, together in groupby(decisions, key=lambda decision: decision.tick):
        ours = list(together)
        peers = {d.group: d.workload for d in ours} if len(ours) > 1 else None
        for decision in ours:
            wanted = objective or decision.objective
            if wanted is None:
                raise InputError(f"the journal holds no objective at tick {tick}; give one with --latency-s")
            past = recent.setdefault(decision.group, deque())
            context = PlanContext(
                workload=decision.workload, objective=wanted, recent=past, peers=peers, topology=topology
            )
            yield Replayed(decision=decision, plan=policy.plan(context))
        for decision in ours:
            remember(recent[decision.group], decision, memory, seconds)


def totals(plans: Iterable[Plan]) -> Totals:
    """Actions and mean planned consumers; there is at least one plan."""
    counted = list(plans)
    actions = Counter(plan.action for plan in counted)
    return Totals(
        policy=counted[0].policy,
        up=actions[Action.UP],
        down=actions[Action.DOWN],
        reassign=actions[Action.REASSIGN],
        hold=actions[Action.HOLD],
        consumers_mean=sum(plan.target.count for plan in counted) / len(counted),
    )
