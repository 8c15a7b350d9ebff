"""What was really done, and one tick as a whole."""

from sluice.model.objective import Objective
from sluice.model.plan import Action, Plan
from sluice.model.snapshot import Snapshot
from sluice.model.values import Value
from sluice.model.workload import Workload


class Receipt(Value, frozen=True, kw_only=True):
    """What an executor did about a plan."""

    time_s: float
    action: Action
    complete: bool = True
    """False: part of it failed or is still under way; `problem` says what. The next tick tries again."""
    started: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    moved_count: int = 0
    pause_s: float | None = None
    """How long the moved partitions stood still, where that is known already."""
    startup_s: float | None = None
    problem: str | None = None


class Decision(Value, frozen=True, kw_only=True):
    """One tick of one group, from measurement to receipt."""

    tick: int
    snapshot: Snapshot
    workload: Workload
    plan: Plan
    receipt: Receipt
    shadows: tuple[Plan, ...] = ()
    """What other policies would have done at this tick."""
    objective: Objective | None = None
    """The promise the plan was made for."""

    @property
    def acted(self) -> bool:
        """An action began at this tick. One that takes several ticks begins once; the others bring it to its end."""
        return self.plan.action is not Action.HOLD and self.receipt.action is not Action.HOLD

    @property
    def time_s(self) -> float:
        return self.snapshot.time_s

    @property
    def group(self) -> str:
        return self.snapshot.group
