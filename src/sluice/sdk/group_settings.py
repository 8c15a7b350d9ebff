"""How a consumer takes part in its group."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from sluice.errors import InputError, did_you_mean

PREFIX = "SLUICE_GROUP_"


class Assignor(StrEnum):
    """Who says which member gets what."""

    PLANNED = "planned"
    """The controller; cooperative-sticky while it is away."""
    RANGE = "range"
    ROUND_ROBIN = "roundrobin"
    COOPERATIVE_STICKY = "cooperative-sticky"


class Rebalance(StrEnum):
    """What members do while they join."""

    EAGER = "eager"
    """Stop reading altogether until the round is through."""
    COOPERATIVE = "cooperative"
    """Go on with what they own; only what moves stands still, for two rounds."""


# Kafka's own assignors come with one way each.
_OWN = {
    Assignor.RANGE: Rebalance.EAGER,
    Assignor.ROUND_ROBIN: Rebalance.EAGER,
    Assignor.COOPERATIVE_STICKY: Rebalance.COOPERATIVE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """Each field can come from the environment: `SLUICE_GROUP_` and the field's name in capitals."""

    assignor: str = Assignor.PLANNED
    rebalance: str | None = None
    """None: cooperative, or what Kafka's own assignor prescribes. All members of a group must agree."""
    heartbeat_s: float = 0.5
    """Members hear of a leaver with their next heartbeat: until then its partitions stand still."""
    session_s: float = 10.0
    """A member that is silent for so long is taken for dead; a broker allows 6 s or more unless told otherwise."""
    max_poll_s: float = 300.0
    """A member that does not come back from its handler for so long is left behind by the group."""
    ask_limit_s: float = 0.5
    """How long the leader waits for the controller's plan before it goes on without."""
    watch: bool = True
    """Join anew as soon as a new plan is published; else a plan waits for the next rebalance, whatever causes it."""
    drain_s: float = 5.0
    """How long a consumer told to stop, and no longer in the plan, waits for the others to take over; 0: not at all."""
    finish_batch: bool = False
    """Work off the whole batch before joining, as a usual client does; else a join interrupts it between two events."""

    def __post_init__(self) -> None:
        _choice("assignor", self.assignor, tuple(Assignor))
        if self.rebalance is not None:
            _choice("rebalance", self.rebalance, tuple(Rebalance))
            own = _OWN.get(Assignor(self.assignor), self.rebalance)
            if self.rebalance != own:
                raise InputError(f"group.rebalance is {self.rebalance!r}, but {self.assignor} is {own}; leave it out")
        for name in ("heartbeat_s", "session_s", "max_poll_s", "ask_limit_s"):
            if not getattr(self, name) > 0:
                raise InputError(f"group.{name} is {getattr(self, name)}; give a time above 0 s")
        if not self.drain_s >= 0:
            raise InputError(f"group.drain_s is {self.drain_s}; give 0 s or more")
        if self.heartbeat_s * 2 > self.session_s:
            raise InputError(
                f"group.heartbeat_s is {self.heartbeat_s} and group.session_s {self.session_s}; "
                "a session must hold two heartbeats or more"
            )

    @property
    def cooperative(self) -> bool:
        chosen = self.rebalance or _OWN.get(Assignor(self.assignor), Rebalance.COOPERATIVE)
        return chosen == Rebalance.COOPERATIVE

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "GroupSettings":
        values: dict[str, Any] = {}
        for field in fields(cls):
            text = environment.get(PREFIX + field.name.upper())
            if text is not None:
                values[field.name] = _parse(field.name, text, field.type)
        return cls(**values)

    def to_environment(self) -> dict[str, str]:
        """What `from_environment` reads back: how an executor tells the processes it starts."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {PREFIX + name.upper(): str(value) for name, value in values.items() if value is not None}


def _choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"group.{name} is {value!r}; {did_you_mean(value, known)}")


def _parse(name: str, text: str, kind: object) -> object:
    if kind is float:
        try:
            return float(text)
        except ValueError:
            raise InputError(f"{PREFIX}{name.upper()} is {text!r}; give a number of seconds") from None
    if kind is bool:
        word = text.strip().lower()
        if word not in ("true", "false", "1", "0", "yes", "no"):
            raise InputError(f"{PREFIX}{name.upper()} is {text!r}; give true or false")
        return word in ("true", "1", "yes")
    return text
