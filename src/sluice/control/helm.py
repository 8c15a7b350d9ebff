"""Stands between the world and the loop: what the loop sees is settled only when it may act, and only a leader acts."""

from collections.abc import Callable, Iterable

import numpy as np

from sluice.control.state import Standing, State
from sluice.errors import UnavailableError
from sluice.execute.base import Executor
from sluice.model import Action, Plan, Receipt, Snapshot, replace
from sluice.monitor.base import Monitor

# A change that takes longer is given up as a whole; what it left is planned with afresh.
MANAGE_LIMIT_S = 60.0


class Helm:
    """Monitor and executor of a live loop, around the real ones."""

    def __init__(
        self,
        monitor: Monitor,
        executor: Executor,
        *,
        groups: Iterable[str],
        epoch: Callable[[str], int | None],
        limit_s: float = MANAGE_LIMIT_S,
    ) -> None:
        self._monitor = monitor
        self._executor = executor
        self._groups = tuple(groups)
        self._epoch = epoch
        self._limit_s = limit_s
        self._standing: dict[str, Standing] = {}
        self._finishing = False
        self._under_way: dict[str, Plan] = {}

    def state(self, group: str) -> State:
        standing = self._standing.get(group)
        return State.SYNCHRONIZE if standing is None else standing.state

    def finish(self) -> None:
        """Begin nothing new from now on; what is under way goes on."""
        self._finishing = True

    @property
    def idle(self) -> bool:
        """No change of any group is under way by our hand."""
        return all(standing.state is not State.MANAGE for standing in self._standing.values())

    def observe(self) -> tuple[Snapshot, ...]:
        """Before it may act the controller shows every group as unsettled: policies hold, and the journal says why."""
        # Asked before the look: what a new leader sees must be newer than its lead.
        epochs = {group: self._epoch(group) for group in self._groups}
        return tuple(self._observed(snapshot, epochs[snapshot.group]) for snapshot in self._monitor.observe())

    def apply(self, plan: Plan) -> Receipt:
        """Hand the plan over; while a change is under way, that change again until it is done."""
        standing = self._standing[plan.group]
        if standing.epoch is None or self._epoch(plan.group) != standing.epoch:
            return Receipt(time_s=plan.time_s, action=Action.HOLD, problem="this controller does not lead")
        standing = standing.planned(plan.action, plan.time_s)
        if standing.state is State.REASSIGN:
            self._under_way[plan.group] = plan
        elif standing.state is State.MANAGE and not standing.done:
            plan = replace(self._under_way[plan.group], time_s=plan.time_s)
        elif plan.action is not Action.HOLD:
            # A policy without its guards: it saw an unsettled group and did not hold.
            return Receipt(time_s=plan.time_s, action=Action.HOLD, problem=f"no change in state {standing.state}")
        try:
            receipt = self._executor.apply(plan)
        except UnavailableError as error:
            receipt = Receipt(time_s=plan.time_s, action=Action.HOLD, complete=False, problem=str(error))
        self._standing[plan.group] = standing.applied(complete=receipt.complete, time_s=plan.time_s)
        return receipt

    def _observed(self, snapshot: Snapshot, epoch: int | None) -> Snapshot:
        group, time_s = snapshot.group, snapshot.time_s
        before = self._standing.get(group) or Standing(since_s=time_s, epoch=epoch)
        standing = before.observed(
            time_s=time_s,
            epoch=epoch,
            known=bool(np.isfinite(snapshot.end_events.sum()) and np.isfinite(snapshot.committed_events.sum())),
            settled=snapshot.settled,
            limit_s=self._limit_s,
        )
        self._standing[group] = standing
        settled = snapshot.settled and standing.state is State.SENTINEL and not self._finishing
        return snapshot if settled == snapshot.settled else replace(snapshot, settled=settled)
