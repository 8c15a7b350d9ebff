"""What a simulated world consists of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sluice.errors import InputError
from sluice.model import LagBasis
from sluice.simulate.arrivals import Arrivals
from sluice.simulate.choice import Choice, RoundRobin
from sluice.simulate.service import FixedSize, Service, Sizes


class Protocol(StrEnum):
    """How a group changes hands."""

    EAGER = "eager"
    """Everybody stops: what is in work is finished, then all stand still for `rebalance_s`."""
    COOPERATIVE = "cooperative"
    """Only what moves stops, for two rounds of `rebalance_s` after what is in work."""
    HANDOVER = "handover"
    """Partition by partition: what its old owner has in work, then `rebalance_s`; nobody else notices."""
    SEAMLESS = "seamless"
    """A shared subscription: members that stay are not disturbed."""
    RESTART = "restart"
    """A shared subscription: every change restarts all members."""

    @property
    def shared(self) -> bool:
        return self in (Protocol.SEAMLESS, Protocol.RESTART)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A topic that producers outside write to."""

    topic: str
    partitions: int
    arrivals: Arrivals
    choice: Choice = field(default_factory=RoundRobin)
    sizes: Sizes = field(default_factory=FixedSize)

    def __post_init__(self) -> None:
        if self.partitions < 1:
            raise InputError(f"topic {self.topic!r} has {self.partitions} partitions; give at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A topic that a group writes to: one event for each one read."""

    topic: str
    partitions: int
    choice: Choice = field(default_factory=RoundRobin)
    sizes: Sizes = field(default_factory=FixedSize)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    """A consumer group and its manners."""

    name: str
    topics: tuple[str, ...]
    service: Service
    protocol: Protocol = Protocol.EAGER
    rebalance_s: float = 0.05
    heartbeat_s: float = 3.0
    """One heartbeat after a member has left the last of the others knows (in a handover they need not)."""
    startup_s: tuple[float, float] = (0.0, 0.0)
    """A consumer takes this long to start: uniform between the two."""
    shutdown_s: float = 0.0
    """A consumer that is told to leave a rebalancing group reads on for this long."""
    max_poll_events: int = 500
    finish_batch: bool = True
    """A batch in work is finished before its partitions change hands; False: only the event in work."""
    commit_s: float = 0.0
    """Least time between two commits of a consumer: what ends sooner is seen as lag for so much longer."""
    initial_consumers: int = 1
    lag_basis: LagBasis = LagBasis.COMMITTED
    output: Output | None = None

    def __post_init__(self) -> None:
        where = f"group {self.name!r}"
        if not self.topics:
            raise InputError(f"{where} reads no topic; name at least one in `topics`")
        if self.initial_consumers < 1:
            raise InputError(f"{where}: initial_consumers is {self.initial_consumers}; start with at least 1")
        if self.max_poll_events < 1:
            raise InputError(f"{where}: max_poll_events is {self.max_poll_events}; give at least 1")
        for name in ("rebalance_s", "heartbeat_s", "shutdown_s", "commit_s"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{where}: {name} is {getattr(self, name)}; give a time of at least 0 s")
        if not 0 <= self.startup_s[0] <= self.startup_s[1]:
            raise InputError(f"{where}: startup_s is {self.startup_s}; give two times, the smaller one first")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """Topics, groups and how long decisions are taken; what has arrived by then is served to the end."""

    sources: tuple[Source, ...]
    groups: tuple[GroupSpec, ...]
    duration_s: float
    interval_s: float = 1.0
    objective_s: float = 0.5
    path_objectives_s: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    """Paths, as the names of their groups, whose events have another objective."""

    def __post_init__(self) -> None:
        if not self.groups:
            raise InputError("there is no group; describe at least one")
        if not self.duration_s > 0 or not self.interval_s > 0:
            raise InputError(f"duration_s is {self.duration_s}, interval_s {self.interval_s}; both must be above 0 s")
        partitions = {s.topic: s.partitions for s in self.sources}
        partitions |= {g.output.topic: g.output.partitions for g in self.groups if g.output}
        for group in self.groups:
            for topic in group.topics:
                if topic not in partitions:
                    raise InputError(f"group {group.name!r} reads topic {topic!r}, which nobody writes")
            total = sum(partitions[topic] for topic in group.topics)
            if group.initial_consumers > total and not group.protocol.shared:
                raise InputError(
                    f"group {group.name!r} starts with {group.initial_consumers} consumers for {total} partitions; "
                    f"a partition has one reader: start with at most {total}"
                )
