"""What `sluice run` needs to know: the cluster, the groups, the promise, and who decides. One TOML file."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from sluice.settings.base import Listed, Settings, checked
from sluice.settings.scenario import AnalyzeSettings, Argument, ObjectiveSettings
from sluice.settings.toml import read_toml


class KafkaSettings(Settings):
    """The cluster."""

    bootstrap: Annotated[str, Field(min_length=1)] | None = None
    """HOST:PORT of a broker, several with commas; the development broker (`sluice broker up`) when left out."""
    client: dict[str, str] = Field(default_factory=dict)
    """Further properties of the Kafka client, by librdkafka's names (security.protocol, sasl.username, …)."""
    limit_s: Annotated[float, Field(gt=0)] = 2.0
    """What has not answered by then counts as unknown."""
    session_s: Annotated[float, Field(gt=0)] = 6.0
    """A leading controller that is silent for so long is replaced; brokers ask for 6 s or more by default."""


class ControlSettings(Settings):
    """Who decides, and how often."""

    policy: Annotated[str, Field(min_length=1)] = "tail-binpack"
    shadows: Listed[str] = ()
    """Policies that are asked too; what they would have done stands in the journal."""
    interval_s: Annotated[float, Field(gt=0)] = 1.0
    """Time between two decisions."""
    monitor: Literal["broker", "stream"] = "broker"
    """Who measures: this program asks the broker, or it reads what `sluice pipeline telemetry` publishes."""
    stale_s: Annotated[float, Field(gt=0)] = 30.0
    """Monitor stream, and measurements: a group of which nothing was published for so long is unknown."""
    listen: Annotated[str, Field(pattern=r"^[^:]+:\d+$")] | None = None
    """HOST:PORT where members of groups on other machines ask for the plan; those on this one read a file."""
    journal: str | None = None
    """Where every decision is written; nowhere when left out."""


class WatchedSettings(Settings):
    """One consumer group."""

    name: Annotated[str, Field(min_length=1)]
    topics: Annotated[Listed[str], Field(min_length=1)]
    mode: Literal["managed", "group"] = "managed"
    """managed: consumers that take commands; group: members of a Kafka consumer group."""
    lag_basis: Literal["committed", "processed"] = "committed"
    """Lag as the broker shows it (end - committed), or as the consumers' own positions do."""
    from_start: bool = True
    """Where a partition without a committed offset begins: at its oldest event, else at its end."""
    reports: str | None = None
    """Topic of the consumers' reports; by default `__sluice.<group>.telemetry`."""
    measurements: Annotated[str, Field(min_length=1)] | None = None
    """Where write speeds of the partitions come from, if not from the sizes of their logs: a topic, or a file of JSON
    lines (`*.jsonl`)."""
    command: Listed[str] = ()
    """How a consumer is started, for example ["python", "consumer.py"]; `--act` needs it."""
    assignor: Literal["planned", "range", "roundrobin", "cooperative-sticky"] = "planned"
    """Mode group: who deals the partitions out, the plan or one of Kafka's own."""
    rebalance: Literal["eager", "cooperative"] | None = None
    """Mode group: what members do while they join; cooperative unless Kafka's own assignor prescribes otherwise."""
    heartbeat_s: Annotated[float, Field(gt=0)] = 0.5
    """Mode group: the others hear of a leaver with their next heartbeat."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Further environment variables of the consumers."""
    initial_consumers: Annotated[int, Field(ge=1)] = 1
    """How many a group without consumers begins with."""
    service_eps: Annotated[float, Field(gt=0)] | None = None
    """Events a second one consumer serves, until it is measured."""
    rebalance_s: Annotated[float, Field(ge=0)] | None = None
    """How long a moved partition stands still, until it is measured."""
    startup_s: Annotated[float, Field(ge=0)] | None = None
    """How long a new consumer takes until it can read, until it is measured."""
    capacity_bps: Annotated[float, Field(gt=0)] | None = None
    """Bytes a second one consumer can read, for policies that pack bytes."""
    silence_s: Annotated[float, Field(gt=0)] = 3.0
    """A consumer that has not reported for so long makes the group unsettled: nothing is decided on old news."""
    lease_s: Annotated[float, Field(gt=0)] = 10.0
    """A consumer that has not reported for so long counts as gone."""

    @model_validator(mode="after")
    def _fits_together(self) -> "WatchedSettings":
        if len(set(self.topics)) < len(self.topics):
            raise ValueError(f"topics names a topic twice: {', '.join(self.topics)}")
        if self.silence_s > self.lease_s:
            raise ValueError(f"silence_s {self.silence_s:g} is longer than lease_s {self.lease_s:g}")
        return self


class LiveSettings(Settings):
    """One `sluice run`, whole."""

    kafka: KafkaSettings = KafkaSettings()
    objective: ObjectiveSettings
    control: ControlSettings = ControlSettings()
    group: Annotated[Listed[WatchedSettings], Field(min_length=1)]
    """`[group]`, or `[[group]]` for several."""
    analyze: AnalyzeSettings = AnalyzeSettings()
    guards: dict[str, Argument] = Field(default_factory=dict)
    """What overrules every policy; each policy may set its own."""
    policy: dict[str, dict[str, Argument]] = Field(default_factory=dict)
    """Arguments by policy: `[policy.tail-binpack]`, then `f_up = 0.9`."""

    @model_validator(mode="before")
    @classmethod
    def _one_is_a_list_of_one(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("group"), dict):
            return {**data, "group": [data["group"]]}
        return data

    @model_validator(mode="after")
    def _groups_once(self) -> "LiveSettings":
        twice = [name for name, count in Counter(group.name for group in self.group).items() if count > 1]
        if twice:
            raise ValueError(f"group {twice[0]!r} is there twice; give each its own name")
        return self


def read_live(path: Path) -> LiveSettings:
    """The settings in a TOML file."""
    return checked(LiveSettings, read_toml(path), str(path))
