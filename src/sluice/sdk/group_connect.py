"""A kafka-python consumer with the assignor and the time limits of the settings."""

from collections.abc import Callable, Mapping
from typing import Any

from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.errors import KafkaConfigurationError, KafkaError

from sluice.errors import InputError, UnavailableError
from sluice.sdk.connect import CONNECT_LIMIT_S
from sluice.sdk.group_assignor import PlannedAssignor
from sluice.sdk.group_settings import Assignor, GroupSettings
from sluice.sdk.settings import ConsumerSettings

# A broker that went away is noticed within this time; a join has its own, longer limit.
REQUEST_LIMIT_S = 10.0
# A new partition of the topic is noticed within this time. By default it would wait for five minutes, and while it has
# no owner the group is not settled: nothing else could be changed either.
METADATA_AGE_S = 10.0

KAFKAS_OWN: Mapping[str, Callable[[], Any]] = {
    Assignor.RANGE: RangePartitionAssignor,
    Assignor.ROUND_ROBIN: RoundRobinPartitionAssignor,
    Assignor.COOPERATIVE_STICKY: CooperativeStickyAssignor,
}
# The settings name client properties as Kafka does; kafka-python differs in more than dots for these.
_RENAMED = {
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "sasl.mechanisms": "sasl_mechanism",
    "ssl.ca.location": "ssl_cafile",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.key.location": "ssl_keyfile",
    "ssl.key.password": "ssl_password",
}


def connect_member(settings: ConsumerSettings, group: GroupSettings, assignor: Any) -> Any:
    """A KafkaConsumer that has found its broker; it has not joined yet."""
    chosen: dict[str, Any] = {
        "bootstrap_servers": settings.bootstrap.split(","),
        "bootstrap_timeout_ms": int(CONNECT_LIMIT_S * 1000),
        "request_timeout_ms": int(REQUEST_LIMIT_S * 1000),
        "metadata_max_age_ms": int(METADATA_AGE_S * 1000),
        # The default grows to 30 s: a broker that is back would be noticed that late.
        "reconnect_backoff_max_ms": 500,
        "group_id": settings.group,
        # The broker shows the client's name with every member: monitors know consumers by it.
        "client_id": settings.consumer,
        "partition_assignment_strategy": [assignor],
        "heartbeat_interval_ms": int(group.heartbeat_s * 1000),
        "session_timeout_ms": int(group.session_s * 1000),
        "max_poll_interval_ms": int(group.max_poll_s * 1000),
        "max_poll_records": settings.max_poll_events,
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest" if settings.from_start else "latest",
        "metrics_enabled": False,
        **{_RENAMED.get(key, key.replace(".", "_")): _plain(text) for key, text in settings.client.items()},
    }
    try:
        return KafkaConsumer(**chosen)
    except (KafkaConfigurationError, TypeError, ValueError) as error:
        raise InputError(f"the Kafka client refuses its settings: {error}") from None
    except KafkaError as error:
        raise UnavailableError(
            f"no Kafka broker answers at {settings.bootstrap} ({type(error).__name__}); "
            "correct the address or start the broker"
        ) from None


def forget_claims(assignor: Any) -> None:
    """The group has gone on without this member: it must not claim what it owned before."""
    if isinstance(assignor, PlannedAssignor):
        assignor.forget()
    elif isinstance(assignor, CooperativeStickyAssignor):
        # kafka-python 3.0 goes on claiming what was lost, and the leader would withhold it from its true owner.
        assignor.member_assignment = None


def _plain(text: str) -> str | int | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.lstrip("-").isdigit() else text
