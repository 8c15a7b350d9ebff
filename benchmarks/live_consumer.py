"""The consumer processes `bench_live` compares: ours, and what one writes with confluent-kafka alone.

    python -m benchmarks.live_consumer managed|managed-batches|group|loop|batches

The first two are ours. `group` is a member of a Kafka group under the eager protocol, `loop` the usual loop
of polls, `batches` the leanest one.
With RECORD_FOLDER each event's time, partition and offset are written down; with COUNT the time so many events took,
with PARSE after reading each as JSON.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event as Flag

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from sluice.sdk import Event, run, run_batches


class Recorder:
    """Writes down every event of a process."""

    def __init__(self, folder: Path) -> None:
        self._out = (folder / f"{os.getpid()}.times").open("w", buffering=1)

    def __call__(self, partition: int, offset: int) -> None:
        self._out.write(f"{time.monotonic()} {partition} {offset}\n")


class Counter:
    """Times so many events, from the first to the last."""

    def __init__(self, count: int, out: Path) -> None:
        self._left = count
        self._count = count
        self._out = out
        self._begun_s = 0.0
        self._parse = "PARSE" in os.environ

    def __call__(self, value: bytes | None) -> None:
        if self._left == self._count:
            self._begun_s = time.monotonic()
        if self._parse:
            json.loads(value or b"")
        self._left -= 1
        if self._left == 0:
            self._out.write_text(str(time.monotonic() - self._begun_s))


def counter() -> Counter:
    return Counter(int(os.environ["COUNT"]), Path(os.environ["OUT"]))


def managed() -> None:
    if "COUNT" in os.environ:
        count = counter()
        run(lambda event: count(event.value))
    record = Recorder(Path(os.environ["RECORD_FOLDER"]))

    def handle(event: Event) -> None:
        record(event.partition.number, event.offset)

    run(handle)


def managed_batches() -> None:
    count = counter()

    def handle(events: Sequence[Event]) -> None:
        for event in events:
            count(event.value)

    run_batches(handle)


def client(**further: object) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": os.environ["SLUICE_BOOTSTRAP"],
            "group.id": os.environ["SLUICE_GROUP"],
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
            **further,
        }
    )


def group() -> None:
    """Eager: in a rebalance everybody gives everything back and waits for the round."""
    record = Recorder(Path(os.environ["RECORD_FOLDER"]))
    consumer = client(**{"partition.assignment.strategy": "range", "heartbeat.interval.ms": 500})
    consumer.subscribe([os.environ["SLUICE_TOPICS"]])
    stop = Flag()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    while not stop.is_set():
        message = consumer.poll(0.02)
        if message is None or message.error() is not None:
            continue
        record(message.partition() or 0, message.offset() or 0)
        for more in consumer.consume(500, timeout=0):
            if more.error() is None:
                record(more.partition() or 0, more.offset() or 0)
        consumer.commit(asynchronous=True)
    consumer.close()


def loop() -> None:
    """As in the client's own documentation: one poll an event; a commit after every 500."""
    count = counter()
    consumer = whole_topic()
    polled = 0
    while True:
        message = consumer.poll(0.1)
        if message is None or message.error() is not None:
            continue
        count(message.value())
        polled += 1
        if polled % 500 == 0:
            consumer.commit(asynchronous=True)


def batches() -> None:
    """As lean as it gets: whole batches, nothing looked at but the value."""
    count = counter()
    consumer = whole_topic()
    while True:
        messages = consumer.consume(500, timeout=0.05)
        for message in messages:
            if message.error() is None:
                count(message.value())
        if messages:
            consumer.commit(asynchronous=True)


def whole_topic() -> Consumer:
    consumer, topic = client(), os.environ["SLUICE_TOPICS"]
    numbers = consumer.list_topics(topic).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in numbers])
    return consumer


if __name__ == "__main__":
    modes = {
        "managed": managed,
        "managed-batches": managed_batches,
        "group": group,
        "loop": loop,
        "batches": batches,
    }
    modes[sys.argv[1]]()
