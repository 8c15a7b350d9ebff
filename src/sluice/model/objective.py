"""What the user promised."""

from dataclasses import dataclass

from sluice.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class PathObjective:
    """The same for the events that take one path of a topology, named by its stages from the source on."""

    stages: tuple[str, ...]
    latency_s: float
    sla_ratio: float = 0.95

    def __post_init__(self) -> None:
        _check(f"objective of path {' → '.join(self.stages)}: ", self.latency_s, self.sla_ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """`sla_ratio` of the events are processed at most `latency_s` after they arrived."""

    latency_s: float
    sla_ratio: float = 0.95
    paths: tuple[PathObjective, ...] = ()
    """Paths of a topology that have an objective of their own."""

    def __post_init__(self) -> None:
        _check("objective.", self.latency_s, self.sla_ratio)

    def along(self, stages: tuple[str, ...]) -> "Objective | PathObjective":
        """What is promised to the events that take this path."""
        return next((path for path in self.paths if path.stages == stages), self)


def _check(where: str, latency_s: float, sla_ratio: float) -> None:
    if not latency_s > 0:
        raise InputError(f"{where}latency_s is {latency_s}; give a time above 0 s")
    if not 0 < sla_ratio <= 1:
        raise InputError(f"{where}sla_ratio is {sla_ratio}; give a share above 0 and at most 1")
