"""What a benchmark reports."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number against its target; `at_least` says on which side of it the number should lie."""

    name: str
    value: float
    unit: str
    target: float
    at_least: bool

    @property
    def met(self) -> bool:
        return self.value >= self.target if self.at_least else self.value <= self.target
