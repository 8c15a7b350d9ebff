"""What a benchmark reports."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number against its target; `at_least` says on which side of it the number should lie."""

    name: str
    value: float
    unit: str
    target: float | None = None
    """None: shown beside the others, nothing was promised."""
    at_least: bool = True

    @property
    def met(self) -> bool:
        if self.target is None:
            return True
        return self.value >= self.target if self.at_least else self.value <= self.target
