"""Where a group's partitions begin, asked of a real broker that dies and comes back."""

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tests.live.managed_rig import eventually

from sluice.broker import Broker
from sluice.errors import UnavailableError
from sluice.model import Partition
from sluice.monitor.kafka.cluster import create_topics
from sluice.sdk.managed_lookup import GroupOffsets
from sluice.sdk.settings import ConsumerSettings


def test_what_is_committed_is_told_again_after_the_broker_died(mortal: Broker, unique: Callable[[str], str]) -> None:
    topic, group = unique("orders"), unique("billing")
    first, second = Partition(topic, 0), Partition(topic, 1)
    admin = AdminClient({"bootstrap.servers": mortal.bootstrap, "log_level": 0})
    create_topics(admin, [NewTopic(topic, 2)], limit_s=20.0)
    committer = Consumer({"bootstrap.servers": mortal.bootstrap, "group.id": group, "log_level": 0})
    committer.commit(offsets=[TopicPartition(topic, 0, 42)], asynchronous=False)
    committer.close()

    offsets = GroupOffsets(ConsumerSettings(bootstrap=mortal.bootstrap, group=group, topics=(topic,)))

    def told() -> bool:
        try:
            return offsets([first, second]) == {first: 42, second: None}
        except UnavailableError:
            return False

    for _ in range(2):
        eventually(told, 20.0)
        mortal.kill()
        with pytest.raises(UnavailableError):
            offsets([first])
        mortal.start()
    eventually(told, 20.0)
    offsets.close()
