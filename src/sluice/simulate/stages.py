"""The simulated world seen as the loop sees any world: through a monitor and an executor."""

from sluice.model import ConsumerReports, Plan, Receipt, Snapshot
from sluice.simulate.group import SimulatedGroup
from sluice.simulate.memory import EMITTED
from sluice.simulate.world import World


class SimulatedMonitor:
    """Shows what a broker shows: end and committed offsets, and what consumers report of themselves."""

    def __init__(self, world: World) -> None:
        self._world = world

    def observe(self) -> tuple[Snapshot, ...]:
        return tuple([_snapshot(group, self._world.now_s) for group in self._world.groups.values()])


def _snapshot(group: SimulatedGroup, now_s: float) -> Snapshot:
    partitions, counters = group.state.see(now_s, group.places)
    end, committed, processed, end_bytes = partitions
    if group.watched and group.spec.output is None:
        counters[EMITTED] = 0.0  # what is served is only looked at
    return Snapshot(
        group=group.spec.name,
        time_s=now_s,
        assignment=group.assignment,
        end_events=end,
        committed_events=committed,
        processed_events=processed,
        end_bytes=end_bytes,
        owned_from_events=group.owned_from_events,
        owned_since_s=group.owned_since_s,
        lag_basis=group.spec.lag_basis,
        reports=ConsumerReports(counters=counters),
        pause_s=group.pause_s,
        startup_s=group.startup_s,
        settled=group.settled,
    )


class SimulatedExecutor:
    """Changes the simulated groups."""

    def __init__(self, world: World) -> None:
        self._world = world

    def apply(self, plan: Plan) -> Receipt:
        return self._world.groups[plan.group].apply(plan, self._world.now_s)
