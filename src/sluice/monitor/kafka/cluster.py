"""The admin connection, and what is wrong with it in one line."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupType, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.errors import InputError, UnavailableError, did_you_mean
from sluice.model import Partition

CONNECT_LIMIT_S = 5.0


def client_settings(bootstrap: str, client: Mapping[str, str]) -> dict[str, Any]:
    """librdkafka's settings: quiet (what fails is reported by us), and soon back after a broker's absence."""
    return {
        "bootstrap.servers": bootstrap,
        "log_level": 0,
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 1000,
        **client,
    }


def connect(bootstrap: str, client: Mapping[str, str], *, limit_s: float = CONNECT_LIMIT_S) -> AdminClient:
    """An admin client whose cluster has answered once; UnavailableError when it does not within `limit_s`."""
    try:
        admin = AdminClient(client_settings(bootstrap, client))
    except (KafkaException, ValueError, TypeError) as error:
        raise InputError(f"the Kafka client refuses its settings: {_said(error)}") from None
    try:
        admin.list_topics("__consumer_offsets", timeout=limit_s)
    except KafkaException as error:
        raise UnavailableError(
            f"no Kafka broker answers at {bootstrap} ({_said(error)}); correct the address or start the broker"
        ) from None
    return admin


def create_topics(admin: AdminClient, new: Sequence[NewTopic], *, limit_s: float) -> None:
    """Make topics, and return when they are there: a busy broker shows a topic later than it says that it is made.

    KafkaException for one that cannot be made.
    """
    for made in admin.create_topics(list(new)).values() if new else ():
        made.result(limit_s)
    deadline_s = time.monotonic() + limit_s
    for topic in new:
        while not _shown(admin, topic, limit_s):
            if time.monotonic() > deadline_s:
                raise UnavailableError(
                    f"topic {topic.topic} was made, but is not shown within {limit_s:g} s; try again"
                )
            time.sleep(0.02)


def _shown(admin: AdminClient, topic: NewTopic, limit_s: float) -> bool:
    described = admin.list_topics(topic.topic, timeout=limit_s).topics[topic.topic]
    leaders = [partition.leader for partition in described.partitions.values()]
    return described.error is None and len(leaders) == topic.num_partitions and min(leaders) >= 0


def partitions_of(client: AdminClient | Consumer, topics: Iterable[str], *, limit_s: float) -> tuple[Partition, ...]:
    """Every partition of the topics in order; InputError for a topic that does not exist.

    The client remembers what it learns here: it finds the partitions' leaders by it.
    """
    found: list[Partition] = []
    try:
        for topic in topics:
            described = client.list_topics(topic, timeout=limit_s).topics[topic]
            if described.error is not None and described.error.code() != KafkaError.LEADER_NOT_AVAILABLE:
                if described.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise InputError(f"topic {topic!r} cannot be read: {described.error.str()}")
                known = [name for name in client.list_topics(timeout=limit_s).topics if not name.startswith("__")]
                raise InputError(f"topic {topic!r} does not exist; {did_you_mean(topic, known)}")
            found += [Partition(topic, number) for number in described.partitions]
    except KafkaException as error:
        raise UnavailableError(f"the broker did not describe the topics: {_said(error)}; try again") from None
    return tuple(sorted(found))


def check_group(admin: AdminClient, group: str, *, must_exist: bool, limit_s: float) -> None:
    """InputError when the cluster knows no such group, or runs it by a protocol whose assignments nobody can plan."""
    try:
        listed = admin.list_consumer_groups(request_timeout=limit_s).result(limit_s)
    except (KafkaException, TimeoutError) as error:
        raise UnavailableError(f"the broker did not list its groups: {_said(error)}; try again") from None
    known = {each.group_id: each.type for each in listed.valid or ()}
    if known.get(group) is ConsumerGroupType.CONSUMER:
        raise InputError(
            f"group {group!r} uses Kafka's new group protocol, whose assignment the broker makes alone; "
            "set group.protocol=classic in its consumers"
        )
    if must_exist and group not in known:
        others = [name for name in known if not name.startswith("__sluice.")]
        raise InputError(f"group {group!r} does not exist; {did_you_mean(group, others)}")


def _said(error: Exception) -> str:
    inner = error.args[0] if error.args else None
    return str(inner.str() if isinstance(inner, KafkaError) else error) or type(error).__name__
