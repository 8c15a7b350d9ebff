"""A consumer's connection to Kafka: the client's settings, the topics it needs, and what is wrong in one line."""

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.errors import InputError, UnavailableError, did_you_mean
from sluice.sdk.settings import ConsumerSettings

CONNECT_LIMIT_S = 6.0


def client_settings(settings: ConsumerSettings, **further: Any) -> dict[str, Any]:
    """librdkafka's settings: quiet (what fails is reported by us), and soon back after a broker's absence."""
    return {
        "bootstrap.servers": settings.bootstrap,
        "client.id": f"{settings.group}.{settings.consumer}",
        "log_level": 0,
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 500,
        **further,
        **settings.client,
    }


def connect(settings: ConsumerSettings, *, limit_s: float = CONNECT_LIMIT_S) -> AdminClient:
    """An admin client whose cluster has answered and knows the topics."""
    try:
        admin = AdminClient(client_settings(settings))
    except (KafkaException, ValueError, TypeError) as error:
        raise InputError(f"the Kafka client refuses its settings: {said(error)}") from None
    for topic in settings.topics:
        _require(admin, settings.bootstrap, topic, limit_s)
    return admin


def ensure_topic(admin: AdminClient, name: str, *, partitions: int, config: Mapping[str, str]) -> None:
    """Make the topic unless it is there."""
    try:
        admin.create_topics([NewTopic(name, num_partitions=partitions, config=dict(config))])[name].result(10)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise UnavailableError(f"topic {name} cannot be created: {said(error)}; check the rights") from None


def said(error: Exception) -> str:
    inner = error.args[0] if error.args else None
    return str(inner.str() if isinstance(inner, KafkaError) else error) or type(error).__name__


def _require(client: AdminClient | Consumer, bootstrap: str, topic: str, limit_s: float) -> None:
    try:
        found = client.list_topics(topic, timeout=limit_s).topics[topic]
        if found.error is None:
            return
        if found.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise InputError(f"topic {topic!r} cannot be read: {found.error.str()}")
        known = [name for name in client.list_topics(timeout=limit_s).topics if not name.startswith("__")]
    except KafkaException as error:
        raise UnavailableError(
            f"no Kafka broker answers at {bootstrap} ({said(error)}); correct the address or start the broker"
        ) from None
    raise InputError(f"topic {topic!r} does not exist; {did_you_mean(topic, known)}")
