"""A scenario: the load, the group that serves it, the promise and the policies' arguments. One TOML file."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from sluice.settings.base import Listed, Settings, checked
from sluice.settings.group import GroupSettings, OutputSettings
from sluice.settings.toml import read_toml
from sluice.settings.topic import TopicSettings

Argument = bool | int | float | str | list[float] | list[str]


class ObjectiveSettings(Settings):
    """The promise."""

    latency_s: Annotated[float, Field(gt=0)]
    """From arrival to the end of processing."""
    sla_ratio: Annotated[float, Field(gt=0, le=1)] = 0.95
    """Share of the events that must keep it."""


class PathSettings(Settings):
    """A promise of its own for the events that take one path through the groups."""

    stages: Annotated[Listed[str], Field(min_length=1)]
    """Names of groups, from the one that reads from outside to the one that feeds nobody."""
    latency_s: Annotated[float, Field(gt=0)]
    """From the first arrival to the end of the last stage."""
    sla_ratio: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the path's events that must keep it; the objective's by default."""


class AnalyzeSettings(Settings):
    """How measurements are turned into rates."""

    window_s: Annotated[float, Field(gt=0)] = 1.0
    """Arrival rates are means over this time (over one interval, where that is longer)."""
    bursts: bool = False
    """Producers send in bursts about one interval apart: an interval that none fell into keeps the rate of the one
    before. Otherwise it looks like a stop, and the group shrinks."""
    burst_period_s: Annotated[float, Field(gt=0)] | None = None
    """Time from one burst to the next, where it is known (intervals at most as long): rates are then events per period.
    Otherwise they are per interval, and come out too high where that is shorter."""
    service_window_s: Annotated[float, Field(gt=0)] = 30.0
    """Service rates are means over this time."""
    rebalance_quantile: Annotated[float, Field(gt=0, le=1)] = 0.99
    """Which of the measured rebalance times the planner counts on."""
    forecast: str | None = None
    """Folder of models made by `sluice pipeline forecast`: rates expected ahead are then part of the workload."""


class Scenario(Settings):
    """One experiment, whole."""

    name: Annotated[str, Field(min_length=1)]
    """As rows and reports call it."""
    description: str = ""
    """One line for people."""
    duration_s: Annotated[float, Field(gt=0)]
    """How long decisions are taken; what has arrived by then is served to the end."""
    interval_s: Annotated[float, Field(gt=0)] = 1.0
    """Time between two decisions."""
    seeds: Annotated[int, Field(ge=1)] = 6
    """How many runs a comparison makes by default: seeds 0, 1, …"""
    policies: Listed[str] = ()
    """What a comparison compares by default."""
    objective: ObjectiveSettings
    topic: Annotated[Listed[TopicSettings], Field(min_length=1)]
    """`[topic]`, or `[[topic]]` for several."""
    group: Annotated[Listed[GroupSettings], Field(min_length=1)]
    """`[group]`, or `[[group]]` for several."""
    path: Listed[PathSettings] = ()
    """`[[path]]`: paths of a topology with an objective of their own; `[objective]` holds for all others."""
    analyze: AnalyzeSettings = AnalyzeSettings()
    guards: dict[str, Argument] = Field(default_factory=dict)
    """What overrules every policy; each policy may set its own."""
    policy: dict[str, dict[str, Argument]] = Field(default_factory=dict)
    """Arguments by policy: `[policy.tail-binpack]`, then `f_up = 0.9`."""

    def inputs(self, group: GroupSettings) -> tuple[TopicSettings | OutputSettings, ...]:
        """The topics the group reads: those it names, else all that come from outside."""
        known = self.topics()
        return tuple(known[name] for name in group.topics) if group.topics else self.topic

    def topics(self) -> dict[str, TopicSettings | OutputSettings]:
        """All topics by name, the groups' outputs included."""
        known: dict[str, TopicSettings | OutputSettings] = {topic.name: topic for topic in self.topic}
        return known | {group.output.name: group.output for group in self.group if group.output is not None}

    @model_validator(mode="before")
    @classmethod
    def _one_is_a_list_of_one(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {k: [v] if k in ("topic", "group", "path") and isinstance(v, dict) else v for k, v in data.items()}

    @model_validator(mode="after")
    def _fits_together(self) -> "Scenario":
        topics = self.topics()
        written = [topic.name for topic in self.topic] + [g.output.name for g in self.group if g.output is not None]
        for what, names in (("topic", written), ("group", [g.name for g in self.group])):
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise ValueError(f"{what} {twice[0]!r} is there twice; give each its own name")
        for number, group in enumerate(self.group):
            where = f"group[{number}]" if len(self.group) > 1 else "group"
            for name in group.topics:
                if name not in topics:
                    raise ValueError(
                        f"{where}.topics names {name!r}, which nobody writes: the stage has no source there; "
                        f"the scenario has {', '.join(topics)}"
                    )
            partitions = sum(topic.partitions for topic in self.inputs(group))
            shared = group.protocol in ("seamless", "restart")
            if group.initial_consumers > partitions and not shared:
                raise ValueError(
                    f"{where}.initial_consumers is {group.initial_consumers}, more consumers than the {partitions} "
                    "partitions it reads; the rest would be idle"
                )
        groups = [group.name for group in self.group]
        for number, path in enumerate(self.path):
            for name in path.stages:
                if name not in groups:
                    raise ValueError(f"path[{number}].stages names {name!r}; the scenario has {', '.join(groups)}")
        if self.duration_s < self.interval_s:
            raise ValueError(f"duration_s {self.duration_s:g} is shorter than interval_s {self.interval_s:g}")
        return self


def read_scenario(path: Path) -> Scenario:
    """The scenario in a TOML file."""
    return checked(Scenario, read_toml(path), str(path))
