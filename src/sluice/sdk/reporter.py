"""Sends what a consumer measures of itself to the group's telemetry topic, in a thread of its own."""

import threading
from collections.abc import Callable
from contextlib import suppress

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from sluice.model import replace
from sluice.model.telemetry import Telemetry, telemetry_topic
from sluice.sdk.connect import client_settings, ensure_topic
from sluice.sdk.settings import ConsumerSettings

TOPIC_SETTINGS = {"retention.ms": "3600000", "segment.ms": "600000"}
GOODBYE_LIMIT_S = 2.0


class Reporter:
    """One report every `report_s`, and a last one that says goodbye."""

    def __init__(self, settings: ConsumerSettings, admin: AdminClient, make: Callable[[], Telemetry]) -> None:
        self._topic = settings.reports or telemetry_topic(settings.group)
        self._key = settings.consumer
        self._every_s = settings.report_s
        self._make = make
        self._stop = threading.Event()
        ensure_topic(admin, self._topic, partitions=1, config=TOPIC_SETTINGS)
        # An old report is worth nothing: what cannot be sent soon is dropped.
        self._producer = Producer(client_settings(settings, **{"message.timeout.ms": 2000}))
        self._thread = threading.Thread(target=self._run, daemon=True, name="sluice-telemetry")

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._send(replace(self._make(), left=True))
        self._producer.flush(GOODBYE_LIMIT_S)

    def _run(self) -> None:
        while True:
            self._send(self._make())
            if self._stop.wait(self._every_s):
                return

    def _send(self, report: Telemetry) -> None:
        # A full buffer means that the broker is away; the next report says the same and more.
        with suppress(BufferError):
            self._producer.produce(self._topic, report.to_wire(), key=self._key)
        self._producer.poll(0)
