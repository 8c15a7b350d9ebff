"""Act only when several ticks in a row want the same direction."""

from dataclasses import dataclass
from typing import ClassVar

from sluice.errors import InputError
from sluice.model import Action, Plan, Reason
from sluice.plan.base import PlanContext
from sluice.plan.guards.base import Guard, wanted

# These put a wish off, they do not refuse it: the ticks they held count as wishes.
_PUT_OFF = frozenset({"patience", "cool-down", "recovery", "unsettled"})

# A control loop remembers at least this many ticks.
MOST_TICKS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience(Guard):
    """UP needs `patience_up` ticks in a row that want it, DOWN `patience_down`; REASSIGN is not made to wait."""

    patience_up: int = 1
    patience_down: int = 1
    guard: ClassVar[str] = "patience"

    def __post_init__(self) -> None:
        for name in ("patience_up", "patience_down"):
            if not 1 <= getattr(self, name) <= MOST_TICKS:
                raise InputError(f"{name} is {getattr(self, name)}; give a number of ticks, 1 … {MOST_TICKS}")

    def plan(self, context: PlanContext) -> Plan:
        plan = self.wrapped.plan(context)
        if plan.action is Action.UP:
            needed = self.patience_up
        elif plan.action is Action.DOWN:
            needed = self.patience_down
        else:
            return plan
        if needed == 1:
            return plan
        ticks = 1
        for decision in reversed(context.recent):
            if ticks >= needed or wanted(decision.plan, _PUT_OFF) is not plan.action:
                break
            if decision.acted:
                break  # that wish was granted
            ticks += 1
        if ticks >= needed:
            return plan
        numbers: dict[str, float | int | str] = {"ticks": ticks, "needed": needed, "direction": plan.action.value}
        return self.overrule(context, plan, Reason("{direction} wanted for {ticks} of {needed} ticks", numbers))
