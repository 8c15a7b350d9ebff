"""The null policy: nothing ever changes."""

from dataclasses import dataclass
from typing import ClassVar

from sluice.model import Plan, Reason
from sluice.plan.base import PlanContext, hold

_REASON = Reason("this policy never changes anything")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    name: ClassVar[str] = "hold"
    needs: ClassVar[tuple[str, ...]] = ()

    def plan(self, context: PlanContext) -> Plan:
        return hold(context, self.name, _REASON)
