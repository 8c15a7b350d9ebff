"""What every executor does."""

from typing import Protocol

from sluice.model import Plan, Receipt


class Executor(Protocol):
    def apply(self, plan: Plan) -> Receipt:
        """Carry the plan out. Applying the same plan twice is the same as applying it once."""
        ...
