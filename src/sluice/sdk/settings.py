"""What a consumer must know to take part; a process started by Sluice finds it in its environment."""

import socket
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from sluice.errors import InputError, did_you_mean

PREFIX = "SLUICE_"


class Mode(StrEnum):
    MANAGED = "managed"
    """The controller commands every start and stop of a partition (`sluice.sdk.managed`)."""
    GROUP = "group"
    """A member of a Kafka consumer group with a planned assignment (`sluice.sdk.group`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    """Each field can come from the environment: `SLUICE_` and the field's name in capitals; lists with commas."""

    bootstrap: str
    group: str
    topics: tuple[str, ...]
    consumer: str = field(default_factory=lambda: f"{socket.gethostname()}-{uuid.uuid4().hex[:6]}")
    """The consumer's name in plans; unique in its group."""
    instance: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    """Names this process: a consumer that comes back after a crash has its old name and a new instance."""
    mode: str = Mode.MANAGED
    max_poll_events: int = 500
    from_start: bool = True
    """Where a partition without a committed offset begins: at its oldest event, else at its end."""
    heartbeat_s: float = 0.4
    """Managed mode: between two signs of life."""
    lease_s: float = 2.0
    """Managed mode: without an answer for so long the consumer stops reading."""
    report_s: float = 0.5
    """Between two telemetry reports."""
    reports: str | None = None
    """Topic of the reports; by default `__sluice.<group>.telemetry`."""
    controller: str | None = None
    """Address of the controller's plan in group mode, for example http://127.0.0.1:8750."""
    client: Mapping[str, str] = field(default_factory=dict)
    """Further properties of the Kafka client: security, timeouts. In the environment: key=value,key=value."""

    def __post_init__(self) -> None:
        for name in ("bootstrap", "group", "consumer", "instance"):
            if not getattr(self, name).strip():
                raise InputError(f"{name} is empty; set it or {PREFIX}{name.upper()}")
        if not self.topics or not all(self.topics):
            raise InputError(f"topics is {list(self.topics)}; name at least one (or set {PREFIX}TOPICS)")
        if self.mode not in tuple(Mode):
            raise InputError(f"mode is {self.mode!r}; {did_you_mean(self.mode, [mode.value for mode in Mode])}")
        if self.max_poll_events < 1:
            raise InputError(f"max_poll_events is {self.max_poll_events}; give 1 or more")
        if not self.heartbeat_s > 0 or not self.report_s > 0:
            raise InputError(f"heartbeat_s is {self.heartbeat_s}, report_s {self.report_s}; give times above 0 s")
        if not self.lease_s >= 3 * self.heartbeat_s:
            raise InputError(f"lease_s is {self.lease_s}; give at least three heartbeats ({3 * self.heartbeat_s:g} s)")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], **given: Any) -> "ConsumerSettings":
        """What is given counts first, then the environment, then the defaults."""
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"a consumer has no setting {name!r}; {did_you_mean(name, known)}")
        values: dict[str, Any] = {
            name: _parsed(name, environment[PREFIX + name.upper()])
            for name in known
            if PREFIX + name.upper() in environment
        }
        values.update(given)
        for name in ("bootstrap", "group", "topics"):
            if name not in values:
                raise InputError(f"{name} is missing; give it to run() or set {PREFIX}{name.upper()}")
        topics = values["topics"]
        values["topics"] = (topics,) if isinstance(topics, str) else tuple(topics)
        return cls(**values)


def _parsed(name: str, text: str) -> Any:
    if name == "topics":
        return tuple(item.strip() for item in text.split(",") if item.strip())
    if name == "client":
        pairs = (item.partition("=") for item in text.split(",") if item.strip())
        return {key.strip(): value.strip() for key, _, value in pairs}
    if name == "from_start":
        if text.lower() not in ("true", "false"):
            raise InputError(f"{PREFIX}FROM_START is {text!r}; give true or false")
        return text.lower() == "true"
    if name in ("heartbeat_s", "lease_s", "report_s"):
        try:
            return float(text)
        except ValueError:
            raise InputError(f"{PREFIX}{name.upper()} is {text!r}; give seconds") from None
    if name == "max_poll_events":
        if not text.isdigit():
            raise InputError(f"{PREFIX}MAX_POLL_EVENTS is {text!r}; give a whole number")
        return int(text)
    return text
