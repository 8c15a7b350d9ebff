"""The Kafka monitor against a real broker: what it shows is what is there, and what it cannot read is unknown."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from sluice.broker import Broker
from sluice.errors import InputError, UnavailableError
from sluice.model import LagBasis, Partition, Snapshot
from sluice.monitor.kafka import GroupSource, KafkaMonitor
from sluice.monitor.kafka.cluster import create_topics
from sluice.monitor.kafka.offsets import OffsetReader

Names = Callable[[str], str]
Topics = Callable[..., str]


@contextmanager
def watching(broker: Broker, *sources: GroupSource, **settings: Any) -> Iterator[KafkaMonitor]:
    monitor = KafkaMonitor(broker.bootstrap, sources, **settings)
    try:
        yield monitor
    finally:
        monitor.close()


def produce(broker: Broker, topic: str, counts: Sequence[int], size_bytes: int = 100) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    for partition, count in enumerate(counts):
        for _ in range(count):
            producer.produce(topic, b"x" * size_bytes, partition=partition)
    assert producer.flush(20) == 0


def commit(broker: Broker, group: str, topic: str, offsets: dict[int, int]) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(topic, n, o) for n, o in offsets.items()], asynchronous=False)
    consumer.close()


def until(monitor: KafkaMonitor, wanted: Callable[[Snapshot], bool], limit_s: float = 15.0) -> Snapshot:
    deadline = time.monotonic() + limit_s
    while True:
        (snapshot,) = monitor.observe()
        if wanted(snapshot):
            return snapshot
        assert time.monotonic() < deadline, snapshot
        time.sleep(0.05)


def test_offsets_are_those_of_the_broker(broker: Broker, make_topic: Topics, unique: Names) -> None:
    topic, group = make_topic(4), unique("group")
    produce(broker, topic, [10, 20, 0, 5])
    commit(broker, group, topic, {0: 4, 1: 20})
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    for future in admin.delete_records([TopicPartition(topic, 3, 2)]).values():
        future.result(10)
    with watching(broker, GroupSource(group=group, topics=(topic,)), groups_exist=True) as monitor:
        (snapshot,) = monitor.observe()
    assert snapshot.group == group
    assert snapshot.partitions == tuple(Partition(topic, n) for n in range(4))
    assert snapshot.end_events.tolist() == [10, 20, 0, 5]
    assert snapshot.start_events is not None
    assert snapshot.start_events.tolist() == [0, 0, 0, 2]
    # Nothing committed: the group will begin at the oldest event there is.
    assert snapshot.committed_events.tolist() == [4, 20, 0, 2]
    assert snapshot.lag_basis is LagBasis.COMMITTED
    assert snapshot.assignment.consumers == ()
    assert snapshot.settled
    assert snapshot.reports is None


def test_a_group_that_begins_at_the_end_has_no_lag_where_nothing_is_committed(
    broker: Broker, make_topic: Topics, unique: Names
) -> None:
    topic, group = make_topic(2), unique("group")
    produce(broker, topic, [7, 3])
    commit(broker, group, topic, {1: 1})
    with watching(broker, GroupSource(group=group, topics=(topic,), from_start=False)) as monitor:
        (snapshot,) = monitor.observe()
    assert snapshot.committed_events.tolist() == [7, 1]


def test_sizes_grow_with_what_is_written(broker: Broker, make_topic: Topics, unique: Names) -> None:
    topic = make_topic(2)
    with watching(broker, GroupSource(group=unique("group"), topics=(topic,))) as monitor:
        before = until(monitor, lambda s: s.end_bytes is not None).end_bytes
        produce(broker, topic, [0, 200], size_bytes=1000)
        after = until(monitor, lambda s: s.end_bytes is not None and s.end_bytes[1] > 0).end_bytes
    assert before is not None
    assert after is not None
    assert before.tolist() == [0, 0]
    assert after[0] == 0
    assert 200_000 < after[1] < 230_000


def test_two_groups_are_seen_at_once(broker: Broker, make_topic: Topics, unique: Names) -> None:
    first, second, shared = make_topic(1), make_topic(2), make_topic(1)
    one, two = unique("group"), unique("group")
    produce(broker, shared, [9])
    commit(broker, one, shared, {0: 3})
    commit(broker, two, shared, {0: 6})
    sources = (GroupSource(group=one, topics=(first, shared)), GroupSource(group=two, topics=(shared, second)))
    with watching(broker, *sources) as monitor:
        left, right = monitor.observe()
    assert (left.group, right.group) == (one, two)
    assert left.committed_events[left.partitions.index(Partition(shared, 0))] == 3
    assert right.committed_events[right.partitions.index(Partition(shared, 0))] == 6
    assert len(right.partitions) == 3


def test_members_and_what_they_own_are_the_brokers(broker: Broker, make_topic: Topics, unique: Names) -> None:
    topic, other, group = make_topic(4), make_topic(2), unique("group")
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": group, "session.timeout.ms": 6000}
    members = [Consumer({**settings, "client.id": name}) for name in ("c0", "c1")]
    with watching(broker, GroupSource(group=group, topics=(topic,))) as monitor:
        try:
            for member in members:
                member.subscribe([topic, other])
            deadline = time.monotonic() + 20
            while {len([p for p in m.assignment() if p.topic == topic]) for m in members} != {2}:
                for member in members:
                    member.poll(0.05)
                assert time.monotonic() < deadline
            snapshot = until(monitor, lambda s: s.settled and s.assignment.count == 2)
            for name, member in zip(("c0", "c1"), members, strict=True):
                held = {Partition(p.topic, p.partition) for p in member.assignment() if p.topic == topic}
                assert set(snapshot.assignment.owned()[name]) == held
        finally:
            for member in members:
                member.close()
        gone = until(monitor, lambda s: s.settled and s.assignment.count == 0)
    assert gone.assignment.owner.tolist() == [-1, -1, -1, -1]


def test_members_that_share_a_client_id_are_told_apart(broker: Broker, make_topic: Topics, unique: Names) -> None:
    topic, group = make_topic(2), unique("group")
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": group, "client.id": "same"}
    members = [Consumer(settings) for _ in range(2)]
    with watching(broker, GroupSource(group=group, topics=(topic,))) as monitor:
        try:
            for member in members:
                member.subscribe([topic])
            deadline = time.monotonic() + 20
            while not all(member.assignment() for member in members):
                for member in members:
                    member.poll(0.05)
                assert time.monotonic() < deadline
            snapshot = until(monitor, lambda s: s.settled and s.assignment.count == 2)
        finally:
            for member in members:
                member.close()
    assert sorted(snapshot.assignment.owner.tolist()) == [0, 1]


def test_new_partitions_are_noticed_and_a_deleted_topic_is_unknown_not_empty(
    broker: Broker, make_topic: Topics, unique: Names
) -> None:
    topic, group = make_topic(1), unique("group")
    produce(broker, topic, [3])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    skipped = [0.0]
    source = GroupSource(group=group, topics=(topic,))
    with watching(broker, source, now=lambda: time.time() + skipped[0]) as monitor:
        assert monitor.observe()[0].end_events.tolist() == [3]
        admin.create_partitions([NewPartitions(topic, 3)])[topic].result(10)
        skipped[0] += 60
        grown = until(monitor, lambda s: len(s.partitions) == 3 and bool(np.isfinite(s.end_events).all()))
        assert grown.end_events.tolist() == [3, 0, 0]
        admin.delete_topics([topic])[topic].result(10)
        gone = until(monitor, lambda s: bool(np.isnan(s.end_events).all()))
    assert len(gone.partitions) == 3
    assert np.isnan(gone.committed_events).all()


def test_a_partial_answer_is_unknown_only_where_something_is_missing(
    broker: Broker, make_topic: Topics, unique: Names
) -> None:
    topic, group = make_topic(1), unique("group")
    produce(broker, topic, [3])
    commit(broker, group, topic, {0: 2})
    reader = OffsetReader(broker.bootstrap, {}, group)
    try:
        asked, deadline = (Partition(topic, 0), Partition(topic, 99)), time.monotonic() + 10
        assert np.array_equal(reader.end(asked, deadline), [3.0, np.nan], equal_nan=True)
        assert np.array_equal(reader.start(asked, deadline), [0.0, np.nan], equal_nan=True)
        assert reader.committed(asked, deadline).tolist() == [2.0, -1.0], "nothing committed is known"
    finally:
        reader.close()


def test_a_broker_that_is_away_is_unknown_within_the_limit_and_known_again_afterwards(
    mortal: Broker, unique: Names
) -> None:
    topic = unique("topic")
    admin = AdminClient({"bootstrap.servers": mortal.bootstrap, "log_level": 0})
    create_topics(admin, [NewTopic(topic, 2)], limit_s=20.0)
    produce(mortal, topic, [5, 6])
    with watching(mortal, GroupSource(group=unique("group"), topics=(topic,)), limit_s=1.0) as monitor:
        before = until(monitor, lambda s: s.settled and bool(np.isfinite(s.end_events).all()))
        assert before.end_events.tolist() == [5, 6]
        mortal.kill()
        for _ in range(3):
            begun = time.monotonic()
            (away,) = monitor.observe()
            assert time.monotonic() - begun < 3.0
            assert np.isnan(away.end_events).all()
            assert np.isnan(away.committed_events).all()
            assert away.end_bytes is None
            assert not away.settled
            assert away.partitions == before.partitions
        mortal.start()
        back = until(monitor, lambda s: s.settled and bool(np.isfinite(s.end_events).all()))
    assert back.end_events.tolist() == [5, 6]


def test_bad_input_is_one_line_in_time(broker: Broker, make_topic: Topics, unique: Names) -> None:
    topic, group = make_topic(1, stem="payments"), unique("invoices")
    commit(broker, group, topic, {0: 0})
    with pytest.raises(InputError, match=f"topic '{topic}x' does not exist; did you mean '{topic}'"):
        KafkaMonitor(broker.bootstrap, [GroupSource(group=group, topics=(topic + "x",))])
    with pytest.raises(InputError, match=f"group '{group}x' does not exist; did you mean '{group}'"):
        KafkaMonitor(broker.bootstrap, [GroupSource(group=group + "x", topics=(topic,))], groups_exist=True)
    commit(broker, f"__sluice.{group}.controllers", topic, {0: 0})
    with pytest.raises(InputError, match=f"group 'zzz' does not exist; known: .*{group}") as caught:
        KafkaMonitor(broker.bootstrap, [GroupSource(group="zzz", topics=(topic,))], groups_exist=True)
    assert "__sluice" not in str(caught.value), "our own groups are nobody's wish"
    with pytest.raises(InputError, match=r"client refuses its settings.*no\.such\.property"):
        KafkaMonitor(broker.bootstrap, [GroupSource(group=group, topics=(topic,))], client={"no.such.property": "1"})
    begun = time.monotonic()
    with pytest.raises(UnavailableError, match=r"no Kafka broker answers at 127\.0\.0\.1:9 .*start the broker"):
        KafkaMonitor("127.0.0.1:9", [GroupSource(group=group, topics=(topic,))])
    assert time.monotonic() - begun < 10
    with pytest.raises(InputError, match="topics of group 'g' is empty"):
        GroupSource(group="g", topics=())
    with pytest.raises(InputError, match="silence_s is 20"):
        GroupSource(group="g", topics=("t",), silence_s=20)
