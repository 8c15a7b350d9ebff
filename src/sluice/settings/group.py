"""A consumer group: how it works, and how a change of it is carried out."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sluice.settings.base import Listed, Settings


class FixedDuration(Settings):
    """Always the same."""

    kind: Literal["fixed"]
    mean_s: Annotated[float, Field(gt=0)]


class ExponentialDuration(Settings):
    """Memoryless, as in M/M/1."""

    kind: Literal["exponential"]
    mean_s: Annotated[float, Field(gt=0)]


class LognormalDuration(Settings):
    """With a long tail."""

    kind: Literal["lognormal"]
    mean_s: Annotated[float, Field(gt=0)]
    cv: Annotated[float, Field(ge=0)]
    """Standard deviation over mean."""


class PerByteDuration(Settings):
    """In proportion to an event's size."""

    kind: Literal["per-byte"]
    s_per_byte: Annotated[float, Field(gt=0)]
    base_s: Annotated[float, Field(ge=0)] = 0.0


Service = Annotated[
    FixedDuration | ExponentialDuration | LognormalDuration | PerByteDuration, Field(discriminator="kind")
]
Startup = Annotated[FixedDuration | ExponentialDuration | LognormalDuration, Field(discriminator="kind")]


class GroupSettings(Settings):
    """One consumer group (one stage)."""

    name: Annotated[str, Field(min_length=1)] = "group"
    topics: Listed[str] = ()
    """What it reads; every topic of the scenario by default."""
    service: Service
    """How long a consumer works on one event."""
    protocol: Literal["eager", "cooperative", "handover"] = "eager"
    """What stands still in a change: everybody; the partitions that move, in two rounds; each moved partition alone."""
    rebalance_s: Annotated[float, Field(ge=0)] = 0.05
    """How long a change blocks what it stops (t_r)."""
    heartbeat_s: Annotated[float, Field(ge=0)] = 3.0
    """A leaver's partitions wait until the others' next heartbeat, at most this long."""
    startup: Startup | None = None
    """How long a new consumer takes until it can read; at once by default."""
    max_poll_events: Annotated[int, Field(ge=1)] = 500
    """A polled batch is at most this big, and committed as a whole."""
    initial_consumers: Annotated[int, Field(ge=1)] = 1
    lag_basis: Literal["committed", "processed"] = "committed"
    """Lag as a broker shows it (end - committed), or as the consumers' own positions do."""

    @model_validator(mode="after")
    def _topics_once(self) -> "GroupSettings":
        if len(set(self.topics)) < len(self.topics):
            raise ValueError(f"topics names a topic twice: {', '.join(self.topics)}")
        return self
