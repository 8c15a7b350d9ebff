"""A topic: its partitions and the events that arrive on them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sluice.settings.base import Listed, Settings
from sluice.settings.rate import Rate


class BurstArrivals(Settings):
    """Each period's events arrive at once."""

    kind: Literal["burst"]
    period_s: Annotated[float, Field(gt=0)] = 1.0
    """A period a little off the decision interval lets the phase drift, as real producers do."""
    phase_s: Annotated[float, Field(ge=0)] | None = None
    """When the first burst comes; drawn from the seed by default."""


class EvenArrivals(Settings):
    """Equally spaced."""

    kind: Literal["even"]


class PoissonArrivals(Settings):
    """Independent of each other."""

    kind: Literal["poisson"]


class MmppArrivals(Settings):
    """Poisson with a rate that jumps between states."""

    kind: Literal["mmpp"]
    states_eps: Listed[Annotated[float, Field(ge=0)]]
    """Events per second in each state."""
    mean_dwell_s: Listed[Annotated[float, Field(gt=0)]]
    """Mean time in each state."""

    @model_validator(mode="after")
    def _one_time_a_state(self) -> "MmppArrivals":
        if not self.states_eps or len(self.states_eps) != len(self.mean_dwell_s):
            raise ValueError(
                f"states_eps has {len(self.states_eps)} and mean_dwell_s {len(self.mean_dwell_s)} numbers; "
                "give one of each for every state"
            )
        return self


class RecordedArrivals(Settings):
    """Every single event from a CSV file with the columns time_s, and if known partition and size_bytes."""

    kind: Literal["recorded"]
    file: str
    """Looked for beside the scenario, then in the data folder."""


Arrivals = Annotated[
    BurstArrivals | EvenArrivals | PoissonArrivals | MmppArrivals | RecordedArrivals, Field(discriminator="kind")
]


class RoundRobinChoice(Settings):
    """One partition after the other."""

    kind: Literal["round-robin"]


class ZipfChoice(Settings):
    """The hash of a key; few keys are frequent."""

    kind: Literal["zipf"]
    keys: Annotated[int, Field(ge=1)]
    """How many keys there are."""
    exponent: Annotated[float, Field(ge=0)]
    """Key number r is drawn in proportion to 1 over r to the power of the exponent."""


class WeightsChoice(Settings):
    """Each partition gets its share."""

    kind: Literal["weights"]
    weights: Listed[Annotated[float, Field(ge=0)]]
    """One number a partition; only their proportions matter."""
    round_up: bool = False
    """Each partition's share of a burst is rounded up, as by a producer that has a loop for each: a few events more
    come than the rate says. Only with burst arrivals."""


Choice = Annotated[RoundRobinChoice | ZipfChoice | WeightsChoice, Field(discriminator="kind")]


def check_weights(choice: Choice, partitions: int) -> None:
    """Explicit shares are one for each partition."""
    if isinstance(choice, WeightsChoice):
        if len(choice.weights) != partitions:
            raise ValueError(f"choice.weights has {len(choice.weights)} numbers for {partitions} partitions")
        if not sum(choice.weights) > 0:
            raise ValueError("choice.weights are all 0; give at least one partition a share")


class FixedSize(Settings):
    """All events are equally big."""

    kind: Literal["fixed"]
    size_bytes: Annotated[float, Field(gt=0)]


class LognormalSize(Settings):
    """Sizes with a long tail."""

    kind: Literal["lognormal"]
    mean_bytes: Annotated[float, Field(gt=0)]
    cv: Annotated[float, Field(gt=0)]
    """Standard deviation over mean."""


Size = Annotated[FixedSize | LognormalSize, Field(discriminator="kind")]


class TopicSettings(Settings):
    """One topic."""

    name: Annotated[str, Field(min_length=1)] = "events"
    """What groups name in their `topics`."""
    partitions: Annotated[int, Field(ge=1)]
    """How many it has."""
    arrivals: Arrivals
    rate: Rate | None = None
    """Needed by burst, even and poisson arrivals; the others carry their own."""
    choice: Choice = RoundRobinChoice(kind="round-robin")
    size: Size = FixedSize(kind="fixed", size_bytes=100.0)

    @model_validator(mode="after")
    def _fits_together(self) -> "TopicSettings":
        own_rate = self.arrivals.kind in ("mmpp", "recorded")
        if own_rate and self.rate is not None:
            raise ValueError(f"rate is given, but {self.arrivals.kind} arrivals carry their own; remove one of them")
        if not own_rate and self.rate is None:
            raise ValueError(f"rate is missing; {self.arrivals.kind} arrivals need one (kind constant, knots or trace)")
        check_weights(self.choice, self.partitions)
        if isinstance(self.choice, WeightsChoice) and self.choice.round_up and self.arrivals.kind != "burst":
            raise ValueError(f"choice.round_up is for bursts, and arrivals are {self.arrivals.kind}; remove it")
        return self
