"""The thread that talks with the controller: reads commands, beats, reports; the lease lives here.

A thread of its own, because a handler may take longer than a lease.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from sluice.errors import InputError, UnavailableError
from sluice.model import Partition
from sluice.model.commands import (
    COMMANDS,
    CONTROL_PARTITIONS,
    REPORTS,
    Beat,
    Report,
    beat_key,
    control_topic,
    record_from_wire,
    record_to_wire,
    report_to_wire,
)
from sluice.sdk.connect import CONNECT_LIMIT_S, client_settings, ensure_topic, said
from sluice.sdk.managed_tenure import Change, Tenure
from sluice.sdk.settings import ConsumerSettings

_log = logging.getLogger("sluice.managed")


class Control:
    """What is to be begun or ended waits in `changes` for the working thread: its client is not for two threads."""

    def __init__(
        self,
        settings: ConsumerSettings,
        admin: AdminClient,
        *,
        tenure: Tenure,
        clock: Callable[[], float],
    ) -> None:
        self._topic = control_topic(settings.group)
        self._tenure = tenure
        self._clock = clock
        self._beat_s = settings.heartbeat_s
        self._beat_due_s = 0.0
        self._own_beats = beat_key(settings.instance).encode()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._ready = False
        self.changes: deque[Change] = deque()
        self.failure: Exception | None = None
        ensure_topic(admin, self._topic, partitions=CONTROL_PARTITIONS, config={"cleanup.policy": "compact"})
        self._producer = Producer(
            client_settings(settings, **{"acks": "all", "enable.idempotence": True, "linger.ms": 0})
        )
        self._consumer = Consumer(
            client_settings(
                settings,
                **{
                    "group.id": f"__sluice.{settings.group}.control",
                    "enable.auto.commit": False,
                    "fetch.error.backoff.ms": 10,
                },
            )
        )
        self._consumer.assign([TopicPartition(self._topic, COMMANDS, OFFSET_BEGINNING)])
        self._thread = threading.Thread(target=self._run, daemon=True, name="sluice-control")

    @property
    def lease_until_s(self) -> float:
        return self._tenure.lease_until_s

    @property
    def evicted(self) -> bool:
        return self._tenure.evicted

    @property
    def dismissed(self) -> bool:
        return self._tenure.dismissed

    def held(self) -> dict[Partition, int]:
        with self._lock:
            return self._tenure.held()

    def start(self) -> None:
        """Read what has been commanded so far, then go on in the background; from then on this consumer is ready."""
        end = self._end_of_log()
        while self._tenure.applied < end - 1:
            self._step(0.1)
        self._ready = True
        self._thread.start()

    def began(self, partition: Partition, epoch: int) -> None:
        """The working thread reads the partition."""
        with self._lock:
            self._tenure.began(partition, epoch)
        self._report()

    def ended(self, partition: Partition, epoch: int, *, offset: int | None, stopped_at_s: float) -> None:
        """The working thread has let go of a partition, and everything of it is committed."""
        with self._lock:
            self._tenure.ended(partition, epoch, offset=offset, stopped_at_s=stopped_at_s)
        self._report()

    def refuse(self, why: str | None) -> None:
        """Take nothing new from now on; `why` when nobody told us to leave."""
        with self._lock:
            self._tenure.leaving, self._tenure.why = True, why

    def leave(self, limit_s: float) -> None:
        """Say goodbye: nothing is held any more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if not self._tenure.evicted:
            self._report()
        self._producer.flush(limit_s)
        self._consumer.close()

    def _end_of_log(self) -> int:
        deadline_s = self._clock() + CONNECT_LIMIT_S
        while True:
            try:
                commands = TopicPartition(self._topic, COMMANDS)
                return int(self._consumer.get_watermark_offsets(commands, timeout=CONNECT_LIMIT_S)[1])
            except KafkaException as error:
                # A topic that was just made is not known at once.
                if self._clock() > deadline_s:
                    raise UnavailableError(f"the control topic cannot be read: {said(error)}; try again") from None
                time.sleep(0.05)

    def _run(self) -> None:
        try:
            while not self._stop.is_set() and not self._tenure.evicted:
                self._step(min(max(self._beat_due_s - self._clock(), 0.0), self._beat_s))
        except Exception as error:
            # Without this thread the lease runs out and the working thread stops; it raises what happened here.
            self.failure = error

    def _step(self, wait_s: float) -> None:
        message = self._consumer.poll(wait_s)
        if message is not None and message.error() is None:
            self._read(message.offset() or 0, message.key(), message.value())
        if self._clock() >= self._beat_due_s:
            self._beat_due_s = self._clock() + self._beat_s
            with self._lock:
                beat = self._tenure.beat(self._clock())
            self._produce(beat)
            self._report()
        self._producer.poll(0)

    def _read(self, offset: int, key: object, value: object) -> None:
        # Beats of others are the most of what stands there, and none of our business.
        if not isinstance(value, bytes) or (isinstance(key, bytes) and key[:5] == b"Beat " and key != self._own_beats):
            self._tenure.skip(offset)
            return
        try:
            record = record_from_wire(value)
        except InputError as error:
            _log.warning("control topic, offset %d: %s", offset, error)
            self._tenure.skip(offset)
            return
        with self._lock:
            self.changes.extend(self._tenure.read(offset, record))

    def _report(self) -> None:
        with self._lock:
            report = self._tenure.report(self._clock(), ready=self._ready)
            # Under the lock: reports must come into the topic in the order they were made in.
            self._produce(report)

    def _produce(self, record: Beat | Report) -> None:
        try:
            if isinstance(record, Beat):
                self._producer.produce(self._topic, record_to_wire(record), key=record.key, partition=COMMANDS)
            else:
                self._producer.produce(self._topic, report_to_wire(record), key=record.instance, partition=REPORTS)
        except BufferError:
            # The broker is away for long; what is lost here is said again with the next beat.
            self._producer.poll(0)
