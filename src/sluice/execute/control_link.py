"""The control topic, from a controller's side."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.errors import InputError, UnavailableError
from sluice.model.commands import (
    COMMANDS,
    CONTROL_PARTITIONS,
    REPORTS,
    Record,
    Report,
    control_topic,
    record_from_wire,
    record_to_wire,
    report_from_wire,
    transactional_id,
)

CONNECT_LIMIT_S = 8.0
READ_AT_ONCE = 500


class ControlLink:
    """Reads all commands from the beginning and reports from now on; writes in order and never gives a record up."""

    def __init__(self, bootstrap: str, group: str, *, client: Mapping[str, str]) -> None:
        self._group = group
        self._topic = control_topic(group)
        self._settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 500,
            **client,
        }
        try:
            _ensure(AdminClient(self._settings), self._topic)
            self._consumer = Consumer(
                {
                    **self._settings,
                    "group.id": f"__sluice.{group}.control",
                    "enable.auto.commit": False,
                    "fetch.error.backoff.ms": 10,
                }
            )
            # A topic that was just made is not known at once.
            self._end: int | None = _retried(self._look_for_end, CONNECT_LIMIT_S)
        except KafkaException as error:
            raise UnavailableError(
                f"no Kafka broker serves {bootstrap} ({error.args[0].str()}); correct the address or start the broker"
            ) from None
        self._from_the_start()

    @property
    def caught_up(self) -> bool:
        """Everything that stood in the log when this link was made, or rewound, has been read."""
        if self._end is None:
            with suppress(KafkaException):
                self._end = self._look_for_end()
        return self._end is not None and self._read_to >= self._end

    def read(self, wait_s: float, command: Callable[[int, Record], None], report: Callable[[Report], None]) -> None:
        """Hand over what has come in; waits only while there is nothing."""
        first = self._consumer.poll(wait_s)
        if first is None:
            return
        for message in [first, *self._consumer.consume(READ_AT_ONCE, timeout=0)]:
            if message.error() is not None:
                continue  # news about connections
            self._hand_over(message, command, report)

    def send(self, record: Record) -> None:
        # The topic's order is what everything rests on: retried without end, never out of turn.
        while True:
            try:
                self._producer.produce(self._topic, record_to_wire(record), key=record.key, partition=COMMANDS)
            except BufferError:
                self._producer.poll(0.1)
            else:
                self._producer.poll(0)
                return

    def fence(self, instance: str, limit_s: float) -> bool:
        """Take over the identity a process commits under: the broker refuses it from now on. False: try again."""
        producer = Producer({**self._settings, "transactional.id": transactional_id(self._group, instance)})
        try:
            producer.init_transactions(limit_s)
        except KafkaException:
            return False
        return True

    def rewind(self) -> None:
        """Read everything again and drop what is still to be sent: this controller was deposed and begins anew."""
        self._end = None
        self._from_the_start()

    def close(self, limit_s: float) -> None:
        self._producer.flush(limit_s)
        self._consumer.close()

    def _look_for_end(self) -> int:
        commands = TopicPartition(self._topic, COMMANDS)
        return int(self._consumer.get_watermark_offsets(commands, timeout=CONNECT_LIMIT_S)[1])

    def _from_the_start(self) -> None:
        self._read_to = 0
        self._consumer.assign(
            [
                TopicPartition(self._topic, COMMANDS, OFFSET_BEGINNING),
                TopicPartition(self._topic, REPORTS, OFFSET_END),
            ]
        )
        self._producer = Producer(
            {**self._settings, "acks": "all", "enable.idempotence": True, "linger.ms": 0, "message.timeout.ms": 0}
        )

    def _hand_over(
        self, message: Any, command: Callable[[int, Record], None], report: Callable[[Report], None]
    ) -> None:
        try:
            if message.partition() == REPORTS:
                report(report_from_wire(message.value() or b""))
            else:
                command(message.offset(), record_from_wire(message.value() or b""))
        except InputError:
            pass  # of a newer version, or none of ours: whoever wrote it is not commanded by us
        if message.partition() == COMMANDS:
            self._read_to = message.offset() + 1


def _retried(ask: Callable[[], int], limit_s: float) -> int:
    """Ask until there is an answer; the last refusal goes up."""
    deadline_s = time.monotonic() + limit_s
    while True:
        try:
            return ask()
        except KafkaException:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.05)


def _ensure(admin: AdminClient, topic: str) -> None:
    new = NewTopic(topic, num_partitions=CONTROL_PARTITIONS, config={"cleanup.policy": "compact"})
    try:
        admin.create_topics([new], request_timeout=CONNECT_LIMIT_S)[topic].result(CONNECT_LIMIT_S + 1)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
