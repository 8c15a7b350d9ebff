"""A group driven through ticks: each plan is carried out at once, and the load does not depend on it."""

from collections.abc import Callable, Iterable

from tests.plan.contexts import context, decision

from sluice.model import Action, Decision, Receipt, Workload, replace
from sluice.plan.base import Policy


def drive(
    policy: Policy, load: Callable[[float], Workload], times_s: Iterable[float], *, latency_s: float = 0.5
) -> list[Decision]:
    """What was decided at these times; `load` gives the measured part, the assignment is what came of the plans."""
    recent: list[Decision] = []
    standing = None
    for time_s in times_s:
        now = replace(load(time_s), time_s=time_s)
        now = now if standing is None else replace(now, assignment=standing)
        plan = policy.plan(context(now, latency_s=latency_s, recent=recent))
        standing = plan.target
        receipt = Receipt(time_s=time_s, action=plan.action)
        recent.append(replace(decision(now, time_s), plan=plan, receipt=receipt))
    return recent


def changes(decisions: list[Decision]) -> list[tuple[float, int]]:
    """When the number of consumers changed, and to what."""
    return [(d.time_s, d.plan.target.count) for d in decisions if d.receipt.action in (Action.UP, Action.DOWN)]
