"""Each group with an executor of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.execute.base import Executor
from sluice.model import Plan, Receipt


@dataclass(frozen=True, slots=True)
class ByGroup:
    """Groups differ in how their consumers are commanded."""

    executors: Mapping[str, Executor]

    def apply(self, plan: Plan) -> Receipt:
        return self.executors[plan.group].apply(plan)
