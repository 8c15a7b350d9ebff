"""Numbered events at an even rate, and the clock all processes of the chaos run share."""

import time
from collections import Counter
from contextlib import suppress
from threading import Event as Flag
from threading import Thread

from confluent_kafka import Producer

TOPIC, PARTITIONS = "numbers", 6
EVENTS_PER_S = 150.0


def now() -> float:
    """The clock the consumers write down."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Flow:
    """Numbered events at an even rate; nothing that was acknowledged is lost, nothing is sent twice."""

    def __init__(self, bootstrap: str) -> None:
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "log_level": 0, "enable.idempotence": True, "message.timeout.ms": 0}
        )
        self._stop = Flag()
        self.sent: Counter[int] = Counter()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._stop.set()
        self._thread.join()
        if self._producer.flush(60):
            raise AssertionError("the broker did not take all events")

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(1 / EVENTS_PER_S):
            partition = number % PARTITIONS
            with suppress(BufferError):
                self._producer.produce(TOPIC, str(self.sent[partition]).encode(), partition=partition)
                self.sent[partition] += 1
                number += 1
            self._producer.poll(0)
