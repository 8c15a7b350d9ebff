"""A few ticks on made-up measurements: what compiles on first use compiles before anybody waits for a decision."""

import numpy as np

from sluice.analyze.base import Analyzer
from sluice.control.loop import ControlLoop
from sluice.execute.advise import Advise
from sluice.model import Assignment, ConsumerReports, Decision, Objective, Partition, Snapshot
from sluice.model.sketch import LatencySketch
from sluice.model.values import floats
from sluice.plan.base import Policy

TICKS = 3
ARRIVING_EVENTS = 1000.0
# So many that policies that pack by bytes pack too.
EVENT_BYTES = 1e6


def rehearse(analyzer: Analyzer, policies: tuple[Policy, ...], objective: Objective, groups: tuple[str, ...]) -> None:
    """Ask every policy about groups that fall behind; nothing is kept and nothing is done."""
    loop = ControlLoop(
        monitor=_Growing(groups),
        analyzer=analyzer,
        policy=policies[0],
        executor=Advise(),
        objective=objective,
        sink=_Nobody(),
        shadows=policies[1:],
    )
    for _ in range(TICKS):
        loop.tick()


class _Nobody:
    def append(self, decision: Decision) -> None:
        pass


class _Growing:
    """Every group has one consumer, which serves half of what arrives."""

    def __init__(self, groups: tuple[str, ...]) -> None:
        self._groups = groups
        self._time_s = 0.0

    def observe(self) -> tuple[Snapshot, ...]:
        self._time_s += 1.0
        return tuple(self._snapshot(group) for group in self._groups)

    def _snapshot(self, group: str) -> Snapshot:
        partitions = tuple(Partition("rehearsal", number) for number in range(3))
        arrived = floats(np.full(len(partitions), ARRIVING_EVENTS * self._time_s))
        served = len(partitions) * ARRIVING_EVENTS * self._time_s / 2
        return Snapshot(
            group=group,
            time_s=self._time_s,
            assignment=Assignment.of({"c0": partitions}),
            end_events=arrived,
            committed_events=floats(arrived / 2),
            processed_events=floats(arrived / 2),
            start_events=floats(np.zeros(len(partitions))),
            end_bytes=floats(arrived * EVENT_BYTES),
            reports=ConsumerReports.of(
                processed_events=floats([served]),
                emitted_events=floats([0.0]),
                busy_s=floats([self._time_s]),
                busy_s2=floats([self._time_s / served]),
                latency_s=floats([served]),
                gap_s=floats([self._time_s]),
                gap_s2=floats([self._time_s / served]),
                batches=floats([self._time_s]),
                latency=(LatencySketch.of([1.0]),),
            ),
        )
