"""Several controllers may run, one leads: Kafka's own group coordinator decides which.

The controllers are members of a group of their own that reads a topic of one partition; who owns the partition leads.
Each leadership begins with a record in that topic, and the record's place in it is the *epoch*: it grows with every
leadership, and whoever is commanded refuses an older one.

A leader may believe in itself only while it can prove it. Every commit it makes to the group is refused once it is no
longer a member; an accepted one keeps it a member for `session_s` from its arrival, so it leads until `lease_s` (less
than that) after the commit was SENT. A process that was stopped for longer wakes up without the lead, before it has
heard anything. No other machine's clock is needed.
"""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.errors import InputError, UnavailableError
from sluice.monitor.kafka.cluster import client_settings, connect

SESSION_S = 6.0
"""The shortest session an unmodified broker allows."""
POLL_S = 0.1


def lease_clock() -> Callable[[], float]:
    """A clock that goes on while this process, or the machine, is stopped."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return partial(time.clock_gettime, time.CLOCK_BOOTTIME)
    return time.monotonic


@dataclass(frozen=True, slots=True)
class _Term:
    epoch: int
    until_s: float


class Leadership:
    """Takes part in the election of one group's leading controller, in a thread of its own.

    A dead leader is replaced within about `session_s` + 3 s, one that closes within about a second.
    """

    def __init__(
        self,
        bootstrap: str,
        name: str,
        *,
        client: Mapping[str, str] | None = None,
        session_s: float = SESSION_S,
    ) -> None:
        if not session_s > 0:
            raise InputError(f"session_s is {session_s}; give a time above 0 s (brokers ask for {SESSION_S:g} or more)")
        self._topic = f"__sluice.{name}.leader"
        self._lease_s = 0.75 * session_s
        self._beat_s = session_s / 6
        self._now = lease_clock()
        self._term: _Term | None = None
        self._owns = False
        self._beat_due_s = 0.0
        self._closed = threading.Event()
        settings = client_settings(bootstrap, dict(client or {}))
        _create(connect(bootstrap, dict(client or {})), self._topic)
        self._producer = Producer({**settings, "acks": "all", "message.timeout.ms": round(session_s * 1000)})
        self._consumer = Consumer(
            {
                **settings,
                "group.id": f"__sluice.{name}.controllers",
                "enable.auto.commit": False,
                "auto.offset.reset": "latest",
                # Sticky: a controller that joins or leaves does not move the lead.
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": round(session_s * 1000),
                "heartbeat.interval.ms": max(round(self._beat_s * 1000), 1),
                # Also how long a rebalance waits for members: one that died while it joined is not noticed otherwise,
                # and for the five minutes of the default nobody would lead.
                "max.poll.interval.ms": round(session_s * 1000),
            }
        )
        self._consumer.subscribe([self._topic], on_assign=self._given, on_revoke=self._taken, on_lost=self._taken)
        self._thread = threading.Thread(target=self._run, daemon=True, name="sluice-leadership")
        self._thread.start()

    @property
    def epoch(self) -> int | None:
        """The epoch of this controller's leadership; None when it does not lead, or cannot be sure to."""
        term = self._term
        return term.epoch if term is not None and self._now() < term.until_s else None

    def close(self) -> None:
        """Step down: another may lead at once."""
        self._closed.set()
        self._thread.join()
        self._term = None
        self._consumer.close()

    def __enter__(self) -> "Leadership":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._step()
            except KafkaException:
                # The broker is away, or we are no member any more: nothing is proved, so the lease runs out.
                self._closed.wait(POLL_S)

    def _step(self) -> None:
        self._consumer.poll(POLL_S)
        if not self._owns:
            self._term = None
            return
        if self._now() < self._beat_due_s:
            return
        term = self._term
        lapsed = term is None or self._now() >= term.until_s
        epoch = self._claim() if lapsed or term is None else term.epoch
        sent_s = self._now()
        self._consumer.commit(offsets=[TopicPartition(self._topic, 0, epoch)], asynchronous=False)
        # The callbacks run in poll only: whoever was told in between that it is over stays out.
        if self._owns:
            self._term = _Term(epoch, sent_s + self._lease_s)
            self._beat_due_s = sent_s + self._beat_s

    def _claim(self) -> int:
        """Begin a leadership: the place of our record in the topic is its epoch (1 and up)."""
        placed: Future[int] = Future()

        def delivered(error: KafkaError | None, message: Any) -> None:
            if error is not None:
                placed.set_exception(KafkaException(error))
            else:
                placed.set_result(message.offset() + 1)

        self._producer.produce(self._topic, b"claim", key=b"leader", partition=0, on_delivery=delivered)
        self._producer.flush()
        return placed.result(0)

    def _given(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        if partitions:
            self._owns, self._beat_due_s = True, 0.0

    def _taken(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        if partitions:
            self._owns, self._term = False, None


def _create(admin: AdminClient, topic: str) -> None:
    # Never deleted by age: an epoch must not come back. Compaction keeps the last claim, and places stay what they are.
    new = NewTopic(topic, num_partitions=1, config={"cleanup.policy": "compact"})
    try:
        admin.create_topics([new])[topic].result(10)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise UnavailableError(
                f"topic {topic} cannot be created: {error.args[0].str()}; check the rights"
            ) from None
