"""One tick: observe, analyze, plan, apply. The same loop runs live and simulated."""

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from sluice.analyze.base import Analyzer
from sluice.execute.base import Executor
from sluice.model import Decision, Objective, Plan, Topology
from sluice.monitor.base import Monitor
from sluice.plan.base import PlanContext, Policy, memory_s

MEMORY = 64
"""Decisions of a group that its next one may look back on, at least."""


class Sink(Protocol):
    """Where decisions go."""

    def append(self, decision: Decision) -> None: ...


class ControlLoop:
    """Ties the four stages together; knows neither the world nor the clock."""

    def __init__(
        self,
        *,
        monitor: Monitor,
        analyzer: Analyzer,
        policy: Policy,
        executor: Executor,
        objective: Objective,
        sink: Sink,
        shadows: Sequence[Policy] = (),
        topology: Topology | None = None,
        memory: int = MEMORY,
    ) -> None:
        self._monitor = monitor
        self._analyzer = analyzer
        self._policy = policy
        self._executor = executor
        self._objective = objective
        self._sink = sink
        self._shadows = tuple(shadows)
        self._topology = topology
        self._memory = memory
        # A guard that looks back five minutes must find five minutes, however short the ticks.
        self._memory_s = max(memory_s(p) for p in (policy, *self._shadows))
        self._recent: dict[str, deque[Decision]] = {}
        self._tick = 0

    def tick(self) -> tuple[Decision, ...]:
        """Decide once for every group."""
        observed = self._monitor.observe()
        memory = [self._recent_of(snapshot.group) for snapshot in observed]
        workloads = [self._analyzer.analyze(s, recent) for s, recent in zip(observed, memory, strict=True)]
        peers = {w.group: w for w in workloads} if len(workloads) > 1 else None
        decisions = []
        for snapshot, workload, recent in zip(observed, workloads, memory, strict=True):
            context = PlanContext(
                workload=workload,
                objective=self._objective,
                recent=recent,
                peers=peers,
                topology=self._topology,
            )
            plan = self._policy.plan(context)
            receipt = self._executor.apply(plan)
            decision = Decision(
                tick=self._tick,
                snapshot=snapshot,
                workload=workload,
                plan=plan,
                receipt=receipt,
                shadows=self._shadow_plans(context),
                objective=self._objective,
            )
            self._sink.append(decision)
            decisions.append(decision)
        # Only now: every group of this tick was planned with the same past.
        for decision, recent in zip(decisions, memory, strict=True):
            remember(recent, decision, self._memory, self._memory_s)
        self._tick += 1
        return tuple(decisions)

    def forget(self) -> None:
        """Go on as if nothing had been before: what led to the group as it is now is not the policy's doing."""
        self._recent.clear()

    def _recent_of(self, group: str) -> deque[Decision]:
        recent = self._recent.get(group)
        if recent is None:
            recent = self._recent[group] = deque()
        return recent

    def _shadow_plans(self, context: PlanContext) -> tuple[Plan, ...]:
        return tuple(shadow.plan(context) for shadow in self._shadows)


def remember(recent: deque[Decision], decision: Decision, memory: int, seconds: float) -> None:
    """Add a decision and forget those beyond both `memory` decisions and `seconds`."""
    recent.append(decision)
    while len(recent) > memory and recent[0].time_s < decision.time_s - seconds:
        recent.popleft()
