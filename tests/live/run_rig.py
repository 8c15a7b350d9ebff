"""What the tests of `sluice run` share: a load that can be changed, and a loop that is ticked by hand."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.assembly.live import Live
from sluice.broker import Broker
from sluice.model import Decision
from sluice.monitor.kafka.cluster import create_topics


class Load:
    """Events to every partition in turn."""

    def __init__(self, broker: Broker, topic: str, partitions: int) -> None:
        self._producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 1, "log_level": 0})
        self._topic, self._partitions = topic, partitions
        self.sent = 0
        self.rate_eps = 0.0

    def send(self, count: int) -> None:
        for _ in range(count):
            self._producer.produce(self._topic, str(self.sent).encode(), partition=self.sent % self._partitions)
            self.sent += 1
        self._producer.poll(0)

    @contextmanager
    def flowing(self, rate_eps: float) -> Iterator["Load"]:
        """Send by itself until the end; `rate_eps` can be changed meanwhile."""
        self.rate_eps = rate_eps
        over = Event()

        def flow() -> None:
            due, seen_s = 0.0, time.monotonic()
            while not over.wait(0.1):
                now_s = time.monotonic()
                due, seen_s = due + self.rate_eps * (now_s - seen_s), now_s
                self.send(int(due))
                due -= int(due)

        thread = Thread(target=flow)
        thread.start()
        try:
            yield self
        finally:
            over.set()
            thread.join()

    def flush(self) -> None:
        assert self._producer.flush(20) == 0


class Kept:
    """A sink that keeps every decision."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> None:
        self.decisions.append(decision)


def create_topic(broker: Broker, name: str, partitions: int) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    create_topics(admin, [NewTopic(name, partitions)], limit_s=20.0)
    return admin


def drive(
    running: Live, kept: Kept, load: Load, rate_eps: float, wanted: Callable[[Decision], bool], limit_s: float = 60.0
) -> Decision:
    """Tick in real time under load until a decision is as wanted. The load keeps its rate however long a tick takes."""
    begun_s, sent = time.monotonic(), load.sent
    while True:
        load.send(int(rate_eps * (time.monotonic() - begun_s)) - (load.sent - sent))
        running.loop.tick()
        if wanted(kept.decisions[-1]):
            return kept.decisions[-1]
        assert time.monotonic() - begun_s < limit_s, kept.decisions[-1]
        time.sleep(0.2)


def settled_with(count: int) -> Callable[[Decision], bool]:
    return lambda d: d.snapshot.settled and d.snapshot.assignment.count == count
