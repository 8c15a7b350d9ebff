"""How patient a controller is with the consumers it commands."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    heartbeat_s: float = 0.4
    """Between two beats of the controller's own."""
    silence_s: float = 2.0
    """A consumer that was not heard of for so long is evicted."""
    margin_s: float = 0.3
    """Added to a lease: clocks may run at slightly different speeds."""
    startup_limit_s: float = 30.0
    """A consumer that is not ready after so long is left out of the target."""
    stop_limit_s: float = 60.0
    """A consumer that does not let go of a partition for so long (its handler hangs) is evicted."""
    backoff_s: float = 0.5
    """Before a consumer that ended while it started is started again; doubles with every failure, up to 32 times."""

    def retry_s(self, failures: int) -> float:
        return self.backoff_s * 2.0 ** min(failures - 1, 5)
