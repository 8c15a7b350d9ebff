"""What the load asks for by Least-Loaded packing: the part that both bin-packing algorithms share."""

from collections.abc import Mapping
from typing import NamedTuple

from sluice.errors import InputError
from sluice.model import Action, Assignment, Candidate, Reason
from sluice.model.values import FloatArray
from sluice.plan.base import PlanContext
from sluice.plan.placing import packed
from sluice.theory.loads import LoadCheck, check_few, check_loads
from sluice.theory.packing import FEW, Packing, bins_needed, least_loaded

NEEDS = ("arrival_eps", "lag_events", "service_eps")


def check_factors(policy: str, f_up: float, f_down: float) -> None:
    if not 0 < f_down < f_up < 1:
        raise InputError(f"{policy}: f_up is {f_up} and f_down is {f_down}; give 0 < f_down < f_up < 1")


class Load(NamedTuple):
    """What is to be packed, and into what: consumers of μ events/s, w seconds of latency."""

    rate: FloatArray
    lag: FloatArray
    service_eps: float
    latency_s: float

    def pack(self, factor: float) -> Packing:
        capacity = self.service_eps * factor
        return least_loaded(self.rate, self.lag, rate_capacity=capacity, lag_capacity=capacity * self.latency_s)

    def needed(self, factor: float) -> int:
        """How many bins `pack` would give; much cheaper."""
        capacity = self.service_eps * factor
        return bins_needed(self.rate, self.lag, capacity, capacity * self.latency_s)

    def stand(self, assignment: Assignment, f_up: float, f_down: float) -> tuple[LoadCheck, int, int]:
        """How the assignment stands within f_up of capacity; the consumers needed within f_up and within f_down."""
        rate, lag, count = self.rate, self.lag, len(assignment.consumers)
        if len(rate) <= FEW:
            found = check_few(rate, lag, assignment.owner, count, self.service_eps, self.latency_s, f_up, f_down)
            return LoadCheck(*found[:5]), found[5], found[6]
        high = self.service_eps * f_up
        check = check_loads(rate, lag, assignment.owner, count, high, high * self.latency_s, self.service_eps)
        return LoadCheck(*check), self.needed(f_up), self.needed(f_down)


class Verdict(NamedTuple):
    """What is to be done, and the numbers that say so."""

    action: Action
    up_count: int
    """Consumers needed with capacities scaled by f_up."""
    down_count: int
    """The same by f_down."""
    check: LoadCheck


def load_of(context: PlanContext) -> Load:
    workload = context.workload
    service_eps = workload.service_eps
    assert service_eps is not None  # declared in NEEDS
    return Load(workload.arrival_eps, workload.lag_events, service_eps, context.objective.latency_s)


def judge(load: Load, current: Assignment, f_up: float, f_down: float) -> Verdict:
    """Grow if f_up asks for more, shrink if f_down asks for fewer, repack if a consumer is above f_up."""
    check, up, down = load.stand(current, f_up, f_down)
    now = len(current.consumers)
    if up > now:
        return Verdict(Action.UP, up, down, check)
    if down < now:
        return Verdict(Action.DOWN, up, down, check)
    # In a group that shares one subscription nobody owns anything, and nothing is orphaned.
    broken = check.over or 0 < check.ownerless < len(load.rate)
    return Verdict(Action.REASSIGN if broken else Action.HOLD, up, down, check)


def grown(load: Load, current: Assignment, factor: float) -> Assignment:
    """Packed into the fewest consumers. If fewer would do than there are, the others idle: only a DOWN sends them home.

    Spreading over all of them instead was tried: it moves twice as much and keeps the objective less often.
    """
    packing = load.pack(factor)
    return packed(current, packing.bins, max(packing.count, len(current.consumers)), load.rate)


def shrunk(load: Load, current: Assignment, factor: float) -> Assignment:
    packing = load.pack(factor)
    return packed(current, packing.bins, packing.count, load.rate)


def reason(verdict: Verdict, load: Load, current: Assignment, f_up: float, f_down: float) -> Reason:
    """Why this action, with its numbers."""
    numbers: dict[str, float | int | str] = {
        "now": len(current.consumers),
        "up": verdict.up_count,
        "down": verdict.down_count,
        "f_up": f_up,
        "f_down": f_down,
        "service_eps": load.service_eps,
        "latency_s": load.latency_s,
        "worst_rate": verdict.check.worst_rate,
        "worst_lag": verdict.check.worst_lag,
        "over": verdict.check.over,
        "ownerless": verdict.check.ownerless,
    }
    return Reason(_TEMPLATES[verdict.action], numbers)


_WORST = (
    "(fullest: {worst_rate:.6g} events/s and {worst_lag:.6g} of lag; μ is {service_eps:.6g} and w {latency_s:.3g} s)"
)
_TEMPLATES = {
    Action.UP: "{up} consumers are needed to stay within {f_up} of capacity, {now} are there " + _WORST,
    Action.DOWN: "{down} consumers stay within {f_down} of capacity, {now} are there " + _WORST,
    Action.REASSIGN: "{over} of {now} consumers are above {f_up} of capacity, {ownerless} partitions without owner, "
    "and {up} consumers could carry the load " + _WORST,
    Action.HOLD: "{now} consumers stay: {up} are needed within {f_up} of capacity, {down} within {f_down} " + _WORST,
}


def lost(name: str, consumers: int, template: str, numbers: Mapping[str, float | int | str]) -> Candidate:
    return Candidate(name=name, consumers=consumers, why_not=Reason(template, numbers))


def candidates(verdict: Verdict, current: Assignment, f_up: float, f_down: float) -> tuple[Candidate, ...]:
    """What was looked at and lost against the action."""
    now, up, down = len(current.consumers), verdict.up_count, verdict.down_count
    if verdict.action is Action.UP:
        return (lost("stay", now, "{up} are needed within {f_up} of capacity", {"up": up, "f_up": f_up}),)
    if verdict.action is Action.DOWN:
        return (lost("stay", now, "{down} are enough within {f_down} of capacity", {"down": down, "f_down": f_down}),)
    return (
        lost("stay", now, "{over} consumers are above {f_up} of capacity", {"over": verdict.check.over, "f_up": f_up}),
        lost("down", up, "{down} are needed within {f_down} of capacity", {"down": down, "f_down": f_down}),
    )


def warnings_of(context: PlanContext, check: LoadCheck) -> tuple[Reason, ...]:
    """What no assignment can cure."""
    workload = context.workload
    found: tuple[Reason, ...] = ()
    if check.hopeless:
        found = (
            Reason(
                "{partitions} partitions bring {service_eps:.6g} events/s or more each, all that a consumer can serve: "
                "needs more partitions or a faster consumer",
                {"partitions": check.hopeless, "service_eps": workload.service_eps or 0.0},
            ),
        )
    pause_s, latency_s = workload.rebalance_s, context.objective.latency_s
    if pause_s is not None and pause_s >= latency_s:
        found = (
            *found,
            Reason(
                "a rebalance takes {pause_s:.3g} s and the objective is {latency_s:.3g} s: every move breaks it",
                {"pause_s": pause_s, "latency_s": latency_s},
            ),
        )
    return found
