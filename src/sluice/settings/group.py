"""A consumer group: how it works, and how a change of it is carried out."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sluice.settings.base import Listed, Settings
from sluice.settings.topic import Choice, FixedSize, RoundRobinChoice, Size, WeightsChoice, check_weights


class FixedService(Settings):
    """Every event takes the same."""

    kind: Literal["fixed"]
    mean_s: Annotated[float, Field(gt=0)]


class ExponentialService(Settings):
    """Memoryless, as in M/M/1."""

    kind: Literal["exponential"]
    mean_s: Annotated[float, Field(gt=0)]


class LognormalService(Settings):
    """With a long tail."""

    kind: Literal["lognormal"]
    mean_s: Annotated[float, Field(gt=0)]
    cv: Annotated[float, Field(gt=0)]
    """Standard deviation over mean."""


class PerByteService(Settings):
    """In proportion to an event's size."""

    kind: Literal["per-byte"]
    s_per_byte: Annotated[float, Field(gt=0)]
    base_s: Annotated[float, Field(ge=0)] = 0.0
    """What even an empty event takes."""


Service = Annotated[FixedService | ExponentialService | LognormalService | PerByteService, Field(discriminator="kind")]


class OutputSettings(Settings):
    """A topic that the group writes: one event for each one read."""

    name: Annotated[str, Field(min_length=1)]
    partitions: Annotated[int, Field(ge=1)]
    choice: Choice = RoundRobinChoice(kind="round-robin")
    size: Size = FixedSize(kind="fixed", size_bytes=100.0)

    @model_validator(mode="after")
    def _a_share_each(self) -> "OutputSettings":
        check_weights(self.choice, self.partitions)
        if isinstance(self.choice, WeightsChoice) and self.choice.round_up:
            raise ValueError("choice.round_up is for bursts of a topic, and an output has none; remove it")
        return self


class GroupSettings(Settings):
    """One consumer group (one stage)."""

    name: Annotated[str, Field(min_length=1)] = "group"
    """As journals and `explain` call it."""
    topics: Listed[str] = ()
    """What it reads; every topic of the scenario by default."""
    service: Service
    """How long a consumer works on one event."""
    protocol: Literal["eager", "cooperative", "handover", "seamless", "restart"] = "eager"
    """What a change stops. eager: everybody; cooperative: the partitions that move, for two rounds; handover: each
    moved partition alone. Of a shared subscription, seamless: nobody who stays; restart: everybody."""
    rebalance_s: Annotated[float, Field(ge=0)] = 0.05
    """How long a change blocks what it stops (t_r)."""
    heartbeat_s: Annotated[float, Field(ge=0)] = 3.0
    """A leaver's partitions wait until the others' next heartbeat, at most this long."""
    startup_s: Annotated[float, Field(ge=0)] | Listed[Annotated[float, Field(ge=0)]] = 0.0
    """How long a new consumer takes until it can read: a time, or `[least, most]` with all between equally likely."""
    shutdown_s: Annotated[float, Field(ge=0)] = 0.0
    """How long a consumer that is told to leave reads on (eager and cooperative); its heartbeat counts from then."""
    max_poll_events: Annotated[int, Field(ge=1)] = 500
    """A polled batch is at most this big, and committed as a whole."""
    finish_batch: bool = True
    """A batch in work is finished before its partitions change hands, as usual clients do; false: only the event in
    work, as handlers of single events do in Sluice's own consumers."""
    initial_consumers: Annotated[int, Field(ge=1)] = 1
    """How many there are when the run starts; at most one a partition."""
    lag_basis: Literal["committed", "processed"] = "committed"
    """Lag as a broker shows it (end - committed), or as the consumers' own positions do."""

    capacity_bps: Annotated[float, Field(gt=0)] | None = None
    """Bytes per second one consumer can read, for packers; by default what its service of the mean event allows."""
    output: OutputSettings | None = None

    @property
    def startup_range_s(self) -> tuple[float, float]:
        """Least and most."""
        if isinstance(self.startup_s, tuple):
            return self.startup_s[0], self.startup_s[1]
        return self.startup_s, self.startup_s

    @model_validator(mode="after")
    def _fits_together(self) -> "GroupSettings":
        if len(set(self.topics)) < len(self.topics):
            raise ValueError(f"topics names a topic twice: {', '.join(self.topics)}")
        if isinstance(self.startup_s, tuple) and (len(self.startup_s) != 2 or self.startup_s[0] > self.startup_s[1]):
            raise ValueError(f"startup_s is {list(self.startup_s)}; give one time, or the least and the most")
        return self
