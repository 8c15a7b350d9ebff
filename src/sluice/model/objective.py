"""What the user promised."""

from dataclasses import dataclass

from sluice.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """`sla_ratio` of the events are processed at most `latency_s` after they arrived."""

    latency_s: float
    sla_ratio: float = 0.95

    def __post_init__(self) -> None:
        if not self.latency_s > 0:
            raise InputError(f"objective.latency_s is {self.latency_s}; give a time above 0 s")
        if not 0 < self.sla_ratio <= 1:
            raise InputError(f"objective.sla_ratio is {self.sla_ratio}; give a share above 0 and at most 1")
