"""The rehearsal asks the policy for a change: what compiles for one has compiled before the run leads."""

import pytest

from sluice.analyze.by_group import ByGroup
from sluice.analyze.window import WindowAnalyzer
from sluice.assembly.rehearsal import rehearse
from sluice.model import Action, Objective, Plan
from sluice.plan.base import PlanContext
from sluice.plan.registry import make_policy


class Heard:
    """A policy that keeps what the real one said."""

    def __init__(self, name: str) -> None:
        self._wrapped = make_policy(name)
        self.name = name
        self.plans: list[Plan] = []

    def plan(self, context: PlanContext) -> Plan:
        self.plans.append(self._wrapped.plan(context))
        return self.plans[-1]


@pytest.mark.parametrize("name", ["tail-binpack", "mwf"])
def test_a_change_is_planned_in_the_rehearsal(name: str) -> None:
    policy = Heard(name)
    analyzer = ByGroup({"g": WindowAnalyzer(service_eps=200.0, capacity_bps=2e6, rebalance_s=0.05, startup_s=1.0)})
    rehearse(analyzer, (policy,), Objective(latency_s=0.5), ("g",))
    assert Action.UP in [plan.action for plan in policy.plans]
