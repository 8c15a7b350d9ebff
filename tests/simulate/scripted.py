"""A loop that carries out a script: at these ticks, these owners."""

from collections.abc import Mapping, Sequence

from sluice.control.loop import ControlLoop
from sluice.execute.base import Executor
from sluice.model import Assignment, Decision, Objective, Plan, Reason, Snapshot, Workload
from sluice.model.values import ints
from sluice.monitor.base import Monitor
from sluice.plan.base import PlanContext, propose

Script = Mapping[int, Sequence[int]]


class Offsets:
    """Only what the broker shows: rates stand for end offsets here."""

    def analyze(self, snapshot: Snapshot, recent: Sequence[Decision]) -> Workload:
        return Workload(
            group=snapshot.group,
            time_s=snapshot.time_s,
            assignment=snapshot.assignment,
            arrival_eps=snapshot.end_events,
            lag_events=snapshot.end_events - snapshot.committed_events,
            settled=snapshot.settled,
        )


class _Scripted:
    name = "scripted"

    def __init__(self, script: Script) -> None:
        self._script = script

    def plan(self, context: PlanContext) -> Plan:
        now = context.workload.assignment
        owner = self._script.get(round(context.workload.time_s))
        if owner is None:
            return propose(context, self.name, now, Reason("nothing scripted"))
        names = tuple(f"c{i}" for i in range(max(owner) + 1))
        target = Assignment(partitions=now.partitions, consumers=names, owner=ints(owner))
        return propose(context, self.name, target, Reason("scripted"))


class Kept(list[Decision]):
    """A sink."""


def scripted(script: Script, sink: Kept, monitor: Monitor, executor: Executor) -> ControlLoop:
    return ControlLoop(
        monitor=monitor,
        analyzer=Offsets(),
        policy=_Scripted(script),
        executor=executor,
        objective=Objective(latency_s=0.5),
        sink=sink,
    )
