"""What every stream of measurements does."""

from typing import Protocol

from sluice.monitor.measured.measurement import Measurement


class Measurements(Protocol):
    def newest(self) -> Measurement | None:
        """The latest measurement there is; None before the first. Returns at once, and does not raise."""
        ...

    def close(self) -> None: ...
