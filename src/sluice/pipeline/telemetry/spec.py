"""What is watched, and how finely."""

from dataclasses import dataclass

from sluice.errors import InputError
from sluice.model.telemetry import telemetry_topic


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedGroup:
    """A consumer group, the topics it reads, and the topic its consumers report to."""

    group: str
    topics: tuple[str, ...]
    reports: str | None = None

    @property
    def reports_topic(self) -> str:
        return self.reports or telemetry_topic(self.group)


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySpec:
    """Times are whole seconds: windows are made of whole seconds."""

    groups: tuple[WatchedGroup, ...]
    window_s: int = 30
    """Rates are means over this time."""
    slide_s: int = 10
    """A window ends this often; consumers are summed up as often."""
    delay_s: int = 10
    """How much older than the newest event before it in its partition an event may be without being late."""
    max_ahead_s: float = 300.0
    """A time further than this after the clock is a mistake; believed, it would make everything after it late."""
    objective_s: float = 0.5
    top_keys: int = 10

    def __post_init__(self) -> None:
        if not self.groups:
            raise InputError("no group is watched; name at least one with --group GROUP=TOPIC[,TOPIC]")
        for name in ("window_s", "slide_s"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; give at least 1 s")
        if self.window_s % self.slide_s:
            raise InputError(f"window_s is {self.window_s}, no multiple of slide_s {self.slide_s}; make it one")
        if self.delay_s < 0 or self.max_ahead_s < 0:
            raise InputError(f"delay_s is {self.delay_s}, max_ahead_s {self.max_ahead_s}; give at least 0 s")
        names = [g.group for g in self.groups]
        if len(set(names)) < len(names):
            raise InputError(f"a group is watched twice: {', '.join(names)}")

    @property
    def event_topics(self) -> tuple[str, ...]:
        return tuple(sorted({topic for g in self.groups for topic in g.topics}))

    @property
    def report_topics(self) -> tuple[str, ...]:
        return tuple(sorted(g.reports_topic for g in self.groups))
