"""The telemetry stream as a monitor: what it publishes is seen once, old news are no news, silence is unknown."""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.broker import Broker
from sluice.errors import InputError
from sluice.model import Assignment, LagBasis, Partition, Snapshot
from sluice.model.stream_snapshot import to_message, workload_topic
from sluice.model.values import floats
from sluice.monitor.kafka import GroupSource, Standing, StreamMonitor
from sluice.monitor.kafka.cluster import create_topics

STALE_S = 30.0


class Rig:
    """A monitor of one group, a clock of its own, and what the stream would publish."""

    def __init__(self, broker: Broker, topic: str, group: str) -> None:
        self.group, self.partitions = group, (Partition(topic, 0), Partition(topic, 1))
        self.now_s = 1_000.0
        self._producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        create_topics(admin, [NewTopic(workload_topic(group), 1)], limit_s=20.0)
        self.publish(5.0, 1)
        self.command: Standing | None = None
        self.monitor = StreamMonitor(
            broker.bootstrap,
            [GroupSource(group=group, topics=(topic,), lag_basis=LagBasis.PROCESSED)],
            stale_s=STALE_S,
            commanded=lambda *_: self.command,
            now=lambda: self.now_s,
        )

    def snapshot(self, time_s: float, end: float) -> Snapshot:
        return Snapshot(
            group=self.group,
            time_s=time_s,
            assignment=Assignment.of({"c1": self.partitions}),
            end_events=floats([end, end]),
            committed_events=floats([end - 1, np.nan]),
        )

    def publish(self, time_s: float, end: float) -> None:
        self.send(to_message(self.snapshot(time_s, end)))

    def send(self, message: bytes) -> None:
        self._producer.produce(workload_topic(self.group), message, key=self.group)
        assert self._producer.flush(10) == 0

    def next(self, wanted: Callable[[Snapshot], bool] = lambda _: True) -> Snapshot:
        """The look at which something is seen that is as wanted."""
        for _ in range(200):
            seen = self.monitor.observe()
            if seen and wanted(seen[0]):
                return seen[0]
            time.sleep(0.05)
        raise AssertionError("nothing was seen")


@pytest.fixture
def rig(broker: Broker, make_topic: Callable[..., str], unique: Callable[[str], str]) -> Iterator[Rig]:
    made = Rig(broker, make_topic(2), unique("watched"))
    yield made
    made.monitor.close()


def test_what_is_published_is_seen_once_and_what_was_there_before_never(rig: Rig) -> None:
    rig.publish(10.0, 100)
    seen = rig.next()
    assert (seen.time_s, seen.end_events.tolist(), seen.settled) == (10.0, [100.0, 100.0], True)
    assert np.isnan(seen.committed_events[1])
    assert seen.lag_basis is LagBasis.PROCESSED
    assert seen.assignment.owned() == {"c1": rig.partitions}
    assert rig.monitor.observe() == ()
    # A batch that is done again says the same again; what cannot be read says nothing.
    rig.publish(10.0, 100)
    rig.send(b"{torn")
    rig.publish(11.0, 103)
    assert rig.next().time_s == 11.0


def test_silence_is_unknown_and_not_settled(rig: Rig) -> None:
    rig.now_s += STALE_S
    assert rig.monitor.observe() == ()
    rig.publish(10.0, 100)
    assert rig.next().settled
    rig.now_s += STALE_S + 1
    (seen,) = rig.monitor.observe()
    assert (seen.time_s, seen.settled) == (rig.now_s, False)
    assert np.isnan(seen.end_events).all()
    assert np.isnan(seen.committed_events).all()
    rig.publish(50.0, 200)
    seen = rig.next(lambda snapshot: snapshot.settled)
    assert (seen.time_s, seen.end_events.tolist()) == (50.0, [200.0, 200.0])


def test_a_group_of_which_nothing_was_ever_heard_is_unknown_in_time(rig: Rig) -> None:
    rig.now_s += STALE_S + 1
    (seen,) = rig.monitor.observe()
    assert seen.partitions == rig.partitions
    assert np.isnan(seen.end_events).all()
    assert not seen.settled


def test_a_commanded_group_is_settled_when_the_stream_shows_what_was_commanded(rig: Rig) -> None:
    both = Assignment.of({"c1": rig.partitions[:1], "c2": rig.partitions[1:]})
    rig.command = Standing(assignment=both, settled=False)
    assert rig.monitor.observe() == ()
    rig.publish(10.0, 100)
    assert not rig.next().settled
    # No news, but the change has to be driven on.
    (again,) = rig.monitor.observe()
    assert (again.time_s, again.settled) == (10.0, False)
    rig.command = Standing(assignment=both, settled=True)
    assert rig.monitor.observe() == ()
    rig.publish(11.0, 101)
    assert not rig.next().settled
    rig.command = Standing(assignment=Assignment.of({"c1": rig.partitions}), settled=True)
    rig.publish(12.0, 102)
    assert rig.next().settled


def test_without_a_stream_one_clear_line_says_what_to_start(broker: Broker, make_topic: Callable[..., str]) -> None:
    with pytest.raises(InputError, match="start `sluice pipeline telemetry` for group 'nobody' first"):
        StreamMonitor(broker.bootstrap, [GroupSource(group="nobody", topics=(make_topic(1),))])
