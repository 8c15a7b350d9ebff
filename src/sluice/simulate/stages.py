"""The simulated world seen as the loop sees any world: through a monitor and an executor."""

import numpy as np

from sluice.model import ConsumerReports, Plan, Receipt, Snapshot
from sluice.simulate.group import SimulatedGroup
from sluice.simulate.kernel import BUSY_S, BUSY_S2, EMITTED, GAP_S, GAP_S2, LATENCY_S, PROCESSED, uncommitted
from sluice.simulate.kernel_shared import in_work
from sluice.simulate.world import World


class SimulatedMonitor:
    """Shows what a broker shows: end and committed offsets, and what consumers report of themselves."""

    def __init__(self, world: World) -> None:
        self._world = world

    def observe(self) -> tuple[Snapshot, ...]:
        return tuple(_snapshot(group, self._world.now_s) for group in self._world.groups.values())


def _snapshot(group: SimulatedGroup, now_s: float) -> Snapshot:
    state = group.state
    partitions = state.partitions
    places = group.places()
    if group.spec.protocol.shared:
        open_events = np.zeros(len(partitions.owner))
        open_events[0] = in_work(now_s, places, state.consumers)
    else:
        open_events = uncommitted(now_s, state.consumers, partitions)
    counters = state.consumers.counters[places].T
    return Snapshot(
        group=group.spec.name,
        time_s=now_s,
        assignment=group.assignment,
        end_events=partitions.arrived.astype(np.float64),
        committed_events=(partitions.processed - open_events).astype(np.float64),
        processed_events=partitions.processed.astype(np.float64),
        end_bytes=partitions.arrived_bytes.copy(),
        lag_basis=group.spec.lag_basis,
        reports=ConsumerReports(
            processed_events=counters[PROCESSED],
            emitted_events=counters[EMITTED],
            busy_s=counters[BUSY_S],
            busy_s2=counters[BUSY_S2],
            latency_s=counters[LATENCY_S],
            gap_s=counters[GAP_S],
            gap_s2=counters[GAP_S2],
        ),
        pause_s=group.pause_s,
        startup_s=group.startup_s,
        settled=group.settled(now_s),
    )


class SimulatedExecutor:
    """Changes the simulated groups."""

    def __init__(self, world: World) -> None:
        self._world = world

    def apply(self, plan: Plan) -> Receipt:
        return self._world.groups[plan.group].apply(plan, self._world.now_s)
