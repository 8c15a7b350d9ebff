"""Consumers' own reports: who owns what, how far they are, and what silence means."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.broker import Broker
from sluice.model import LagBasis, Partition, Snapshot
from sluice.model.sketch import LatencySketch
from sluice.model.telemetry import Begun, Telemetry, telemetry_topic
from sluice.monitor.kafka import GroupSource, KafkaMonitor, Ownership
from sluice.monitor.kafka.cluster import create_topics


class Managed:
    """A managed group of two partitions, its reports written by hand, watched on a clock that can skip."""

    def __init__(self, broker: Broker, group: str, topic: str) -> None:
        self.group = group
        self.first, self.second = Partition(topic, 0), Partition(topic, 1)
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        self.create_reports()
        self._producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0})
        for partition in (0, 1):
            for _ in range(10):
                self._producer.produce(topic, b"x", partition=partition)
        self._skipped_s = 0.0
        source = GroupSource(
            group=group,
            topics=(topic,),
            ownership=Ownership.MANAGED,
            lag_basis=LagBasis.PROCESSED,
            silence_s=3.0,
            lease_s=10.0,
        )
        self.monitor = KafkaMonitor(broker.bootstrap, [source], now=lambda: time.time() + self._skipped_s)

    def create_reports(self) -> None:
        topic = telemetry_topic(self.group)
        create_topics(self.admin, [NewTopic(topic, 1)], limit_s=20.0)

    def says(self, consumer: str, positions: Mapping[Partition, int | None], **fields: Any) -> None:
        values: dict[str, Any] = {"run": "r1", "time_s": time.time(), **fields}
        self.writes(Telemetry(group=self.group, consumer=consumer, positions=positions, **values).to_wire())

    def writes(self, message: bytes) -> None:
        self._producer.produce(telemetry_topic(self.group), message)
        assert self._producer.flush(10) == 0

    def pass_time(self, seconds: float, step_s: float = 1.0) -> Snapshot:
        """Let time go by with a look every second, as the loop does."""
        while seconds > 0:
            self._skipped_s += min(step_s, seconds)
            seconds -= step_s
            snapshot = self.look()
        return snapshot

    def stand_still(self, seconds: float) -> Snapshot:
        """This process was stopped all the time."""
        self._skipped_s += seconds
        return self.look()

    def look(self) -> Snapshot:
        (snapshot,) = self.monitor.observe()
        return snapshot

    def until(self, wanted: Callable[[Snapshot], bool]) -> Snapshot:
        deadline = time.monotonic() + 10
        while not wanted(snapshot := self.look()):
            assert time.monotonic() < deadline, snapshot
            time.sleep(0.05)
        return snapshot


@pytest.fixture
def managed(broker: Broker, make_topic: Callable[..., str], unique: Callable[[str], str]) -> Iterator[Managed]:
    made = Managed(broker, unique("managed"), make_topic(2))
    yield made
    made.monitor.close()


def test_reports_say_who_owns_what_how_far_it_is_and_how_it_works(managed: Managed) -> None:
    latency = LatencySketch.of([0.1, 0.2])
    managed.says(
        "c0",
        {managed.first: 7},
        begun={managed.first: Begun(2, 1000.5), managed.second: Begun(1, 900.0)},
        processed_events=7.0,
        busy_s=0.5,
        batches=3.0,
        latency=latency,
        pause_s=0.02,
    )
    managed.says(
        "c1", {managed.second: None}, begun={managed.second: Begun(None, 1001.0)}, processed_events=0.0, startup_s=1.5
    )
    seen = managed.until(lambda s: s.assignment.count == 2)
    assert seen.assignment.owned() == {"c0": (managed.first,), "c1": (managed.second,)}
    assert seen.settled
    assert seen.lag_basis is LagBasis.PROCESSED
    assert seen.processed_events is not None
    # The second owner has not begun: its partition stands where it was committed.
    assert seen.processed_events.tolist() == [7.0, 0.0]
    assert seen.reports is not None
    assert seen.reports.counter("processed_events").tolist() == [7.0, 0.0]
    assert seen.reports.counter("busy_s").tolist() == [0.5, 0.0]
    assert seen.reports.batches is not None
    assert seen.reports.batches.tolist() == [3.0, 0.0]
    assert seen.reports.latency == (latency, LatencySketch.empty())
    assert seen.pause_s == 0.02
    assert seen.startup_s == 1.5
    # Of each partition its owner's word counts, and who has read nothing yet has not said where it began.
    assert seen.owned_from_events is not None
    assert seen.owned_since_s is not None
    np.testing.assert_array_equal(seen.owned_from_events, [2.0, np.nan])
    np.testing.assert_array_equal(seen.owned_since_s, [1000.5, np.nan])


def test_of_two_claims_the_later_command_counts(managed: Managed) -> None:
    managed.says("c1", {managed.first: 5}, epoch=4)
    managed.says("c0", {managed.first: 9}, epoch=3, time_s=time.time() + 100)
    seen = managed.until(lambda s: s.assignment.count == 2)
    assert seen.assignment.owned() == {"c0": (), "c1": (managed.first,)}


def test_who_says_good_bye_is_gone_at_once_and_its_successor_stays(managed: Managed) -> None:
    managed.says("c0", {managed.first: 1}, run="old")
    managed.says("c1", {managed.second: 1})
    managed.until(lambda s: s.assignment.count == 2)
    managed.says("c1", {}, left=True)
    assert managed.until(lambda s: s.assignment.count == 1).settled
    managed.says("c0", {managed.first: 2}, run="new")
    managed.says("c0", {}, run="old", left=True)
    managed.says("c2", {})
    assert managed.until(lambda s: s.assignment.count == 2).assignment.owned()["c0"] == (managed.first,)


def _first_is_at(position: int) -> Callable[[Snapshot], bool]:
    return lambda s: s.processed_events is not None and s.processed_events[0] == position


def test_a_silent_consumer_is_uncertain_then_gone(managed: Managed) -> None:
    managed.says("c0", {managed.first: 1})
    managed.says("c1", {managed.second: 1})
    managed.until(lambda s: s.assignment.count == 2)
    managed.pass_time(2)
    managed.says("c0", {managed.first: 2})
    managed.until(_first_is_at(2))
    uncertain = managed.pass_time(2)
    assert uncertain.assignment.count == 2, "it may still be at work"
    assert not uncertain.settled
    for position in range(3, 8):
        managed.says("c0", {managed.first: position})
        managed.until(_first_is_at(position))
        gone = managed.pass_time(2)
    assert gone.assignment.owned() == {"c0": (managed.first,)}
    assert gone.settled
    assert gone.processed_events is not None
    assert gone.processed_events.tolist() == [7.0, 0.0]


def test_time_in_which_we_could_not_listen_is_nobodys_silence(managed: Managed) -> None:
    managed.says("c0", {managed.first: 1})
    managed.until(lambda s: s.assignment.count == 1)
    woken = managed.stand_still(600)
    assert woken.assignment.owned() == {"c0": (managed.first,)}
    assert woken.settled


def test_without_the_reports_topic_nothing_is_certain_and_nobody_is_given_up(managed: Managed) -> None:
    managed.says("c0", {managed.first: 1})
    managed.until(lambda s: s.assignment.count == 1)
    topic = telemetry_topic(managed.group)
    managed.admin.delete_topics([topic])[topic].result(10)
    managed.until(lambda s: not s.settled)
    lost = managed.pass_time(30)
    assert lost.assignment.owned() == {"c0": (managed.first,)}
    assert not lost.settled
    assert np.isfinite(lost.end_events).all()
    managed.create_reports()
    deadline = time.monotonic() + 15
    while not managed.pass_time(2.5, 2.5).settled:
        managed.says("c0", {managed.first: 3})
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_strange_messages_are_passed_over(managed: Managed) -> None:
    managed.writes(b"not JSON")
    managed.writes(b"")
    managed.writes(Telemetry(group="another", consumer="cx", run="r", time_s=0.0).to_wire())
    managed.says("c0", {managed.first: 1})
    assert managed.until(lambda s: s.assignment.count == 1).assignment.consumers == ("c0",)


def test_a_new_monitor_knows_the_group_from_recent_reports(managed: Managed, broker: Broker) -> None:
    managed.says("c0", {managed.first: 1, managed.second: 1})
    source = GroupSource(group=managed.group, topics=(managed.first.topic,), ownership=Ownership.MANAGED)
    late = KafkaMonitor(broker.bootstrap, [source])
    try:
        deadline = time.monotonic() + 10
        while late.observe()[0].assignment.count != 1:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        late.close()
