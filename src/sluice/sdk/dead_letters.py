"""Writes events that were given up to their dead-letter topic."""

from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from sluice.errors import UnavailableError
from sluice.sdk.connect import CONNECT_LIMIT_S, client_settings, ensure_topic, said
from sluice.sdk.event import Event
from sluice.sdk.failure import OnError, dead_letter_headers
from sluice.sdk.settings import ConsumerSettings

DELIVERY_LIMIT_S = 10.0


class DeadLetterTopic:
    """Connects, and makes the topic, when the first event is given up; most consumers never need it."""

    def __init__(self, settings: ConsumerSettings, on_error: OnError) -> None:
        self._settings = settings
        self._on_error = on_error
        self._producer: Producer | None = None
        self._there: set[str] = set()

    def __call__(self, event: Event, error: BaseException, tries: int) -> None:
        if self._producer is None:
            limit_ms = round(DELIVERY_LIMIT_S * 1000)
            self._producer = Producer(client_settings(self._settings, **{"message.timeout.ms": limit_ms}))
        topic = self._on_error.topic_for(event)
        self._make_sure_of(topic)
        failures: list[KafkaError] = []

        def delivered(problem: KafkaError | None, _: Any) -> None:
            if problem is not None:
                failures.append(problem)

        self._producer.produce(
            topic,
            event.value,
            key=event.key,
            headers=list(dead_letter_headers(event, error, tries)),
            on_delivery=delivered,
        )
        if self._producer.flush(DELIVERY_LIMIT_S + 1) or failures:
            why = failures[0].str() if failures else "no answer"
            raise UnavailableError(f"dead-letter topic {topic} did not take the event: {why}; check the rights")

    def _make_sure_of(self, topic: str) -> None:
        if topic in self._there:
            return
        admin = AdminClient(client_settings(self._settings))
        try:
            found = admin.list_topics(topic, timeout=CONNECT_LIMIT_S).topics[topic]
        except KafkaException as error:
            raise UnavailableError(f"dead-letter topic {topic} cannot be reached: {said(error)}; try again") from None
        # Made only where it is missing: whoever may not make topics can have it made beforehand.
        if found.error is not None:
            ensure_topic(admin, topic, partitions=1, config={})
        self._there.add(topic)
