"""How many events a second, over time."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sluice.settings.base import Listed, Settings


class ConstantRate(Settings):
    """The same rate all the time."""

    kind: Literal["constant"]
    eps: Annotated[float, Field(ge=0)]
    """Events per second."""


class KnotsRate(Settings):
    """A curve through points (second, events per second)."""

    kind: Literal["knots"]
    points: Listed[Listed[float]]
    """`[[0, 0], [125, 200], …]`: seconds rising, events per second not negative."""
    interpolation: Literal["half-cosine", "linear"] = "half-cosine"
    """Between two points: half a cosine (level at both ends) or a straight line."""
    round_up: bool = False
    """Whole events: each second's value, taken at its middle, is rounded up."""
    noise_eps: Annotated[float, Field(ge=0)] = 0.0
    """Standard deviation of normal noise added to each second (never below 0), drawn from the seed."""

    @model_validator(mode="after")
    def _a_curve(self) -> "KnotsRate":
        if len(self.points) < 2:
            raise ValueError("points holds fewer than two points; give at least [second, events per second] twice")
        for point in self.points:
            if len(point) != 2:
                raise ValueError(f"points holds {list(point)}; each point is [second, events per second]")
            if point[1] < 0:
                raise ValueError(f"points holds the rate {point[1]:g} at {point[0]:g} s; a rate is not negative")
        for left, right in zip(self.points, self.points[1:], strict=False):
            if right[0] <= left[0]:
                raise ValueError(f"points holds second {right[0]:g} after {left[0]:g}; put them in rising order")
        return self


class TraceRate(Settings):
    """Read from a CSV file: one number a row, or a time and a number; with or without a header."""

    kind: Literal["trace"]
    file: str
    """Looked for beside the scenario, then in the data folder."""
    step_s: Annotated[float, Field(gt=0)] | None = None
    """Seconds between two rows; by default what the time column says, 1 without one."""
    per: Literal["second", "row"] = "second"
    """What a number counts: events per second, or events in the whole row (a minute, say)."""
    start_s: Annotated[float, Field(ge=0)] = 0.0
    """Seconds of the trace to skip."""
    speed_up: Annotated[float, Field(gt=0)] = 1.0
    """The same events in this many times less time: rates rise by the same factor."""
    peak_eps: Annotated[float, Field(gt=0)] | None = None
    """Scale the rates so that the highest is this."""
    otherwise: KnotsRate | ConstantRate | None = Field(default=None, discriminator="kind")
    """A fitted curve to use where the file is absent; results say so."""


Rate = Annotated[ConstantRate | KnotsRate | TraceRate, Field(discriminator="kind")]
