"""Where a group's partitions begin, asked of a real broker that dies and comes back."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tests.live.managed_rig import eventually

from sluice.broker import Broker
from sluice.errors import UnavailableError
from sluice.model import Partition
from sluice.monitor.kafka.cluster import create_topics
from sluice.monitor.kafka.offsets import OffsetReader
from sluice.sdk.managed_lookup import GroupOffsets
from sluice.sdk.settings import ConsumerSettings


@contextmanager
def committed(broker: Broker, group: str, place: TopicPartition) -> Iterator[Consumer]:
    committer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "log_level": 0})
    committer.commit(offsets=[place], asynchronous=False)
    yield committer
    committer.close()


def test_what_is_committed_is_told_again_after_the_broker_died(mortal: Broker, unique: Callable[[str], str]) -> None:
    topic, group = unique("orders"), unique("billing")
    first, second = Partition(topic, 0), Partition(topic, 1)
    create_topics(
        AdminClient({"bootstrap.servers": mortal.bootstrap, "log_level": 0}), [NewTopic(topic, 2)], limit_s=20.0
    )
    with committed(mortal, group, TopicPartition(topic, 0, 42)):
        pass
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


def test_a_transaction_that_never_ends_is_waited_for_once(
    broker: Broker, make_topic: Callable[..., str], unique: Callable[[str], str]
) -> None:
    topic, group = make_topic(1), unique("billing")
    partition = Partition(topic, 0)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": unique("billing"), "log_level": 0})
    producer.init_transactions(20)
    offsets = GroupOffsets(ConsumerSettings(bootstrap=broker.bootstrap, group=group, topics=(topic,)))
    reader = OffsetReader(broker.bootstrap, {}, group)
    with committed(broker, group, TopicPartition(topic, 0, 42)) as committer:
        assert offsets([partition]) == {partition: 42}
        producer.begin_transaction()
        producer.send_offsets_to_transaction([TopicPartition(topic, 0, 50)], committer.consumer_group_metadata(), 20)
        with pytest.raises(UnavailableError, match="not told"):
            offsets([partition])
        assert offsets([partition]) == {partition: 42}
        with pytest.raises(UnavailableError, match="not told"):
            offsets([partition])
        assert reader.committed((partition,), time.monotonic() + 20) == [42]
        producer.commit_transaction(20)
    eventually(lambda: offsets([partition]) == {partition: 50}, 20.0)
    assert reader.committed((partition,), time.monotonic() + 20) == [50]
    offsets.close()
    reader.close()
