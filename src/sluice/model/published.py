"""The plan as the controller publishes it for members of a consumer group."""

import json
from typing import Any

from sluice.errors import InputError
from sluice.model.assignment import Assignment, Partition
from sluice.model.values import Value


class PublishedPlan(Value, frozen=True, kw_only=True):
    """Who is to own what, under a number that changes with every new target and with nothing else."""

    group: str
    version: int
    time_s: float
    """When the controller last stood by this plan (seconds since 1970); an old one may be nobody's any more."""
    target: Assignment
    epoch: int = 0
    """Of the leadership it was published under; members refuse an older one than they have seen."""
    wake: bool = True
    """False: no reason to rebalance; it counts when something else is one (a consumer of the plan is about to join)."""

    def to_json(self) -> str:
        owned = {name: [str(p) for p in held] for name, held in self.target.owned().items()}
        return json.dumps(
            {
                "group": self.group,
                "version": self.version,
                "epoch": self.epoch,
                "time_s": self.time_s,
                "wake": self.wake,
                "owned": owned,
            }
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> "PublishedPlan":
        """The inverse of `to_json`; InputError when the text is something else."""
        try:
            data: dict[str, Any] = json.loads(text)
            owned = {str(name): [Partition.parse(p) for p in held] for name, held in data["owned"].items()}
            return cls(
                group=str(data["group"]),
                version=int(data["version"]),
                epoch=int(data["epoch"]),
                time_s=float(data["time_s"]),
                target=Assignment.of(owned),
                wake=bool(data["wake"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"not a published plan: {type(error).__name__}: {error}") from error
