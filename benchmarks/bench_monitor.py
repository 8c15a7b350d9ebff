"""One look at 1,000 partitions of a real broker."""

import time
from statistics import median

import numpy as np
from benchmarks.measure import Measurement
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.broker import Broker
from sluice.monitor.kafka import GroupSource, KafkaMonitor

PARTITIONS = 1000
LOOKS = 30


def run() -> list[Measurement]:
    with Broker() as broker:
        settings: dict[str, str | int | float] = {"bootstrap.servers": broker.bootstrap, "log_level": 0}
        admin = AdminClient(settings)
        admin.create_topics([NewTopic("many", PARTITIONS)])["many"].result(60)
        producer = Producer(settings)
        for number in range(10 * PARTITIONS):
            producer.produce("many", b"x" * 100, partition=number % PARTITIONS)
        producer.flush(60)
        consumer = Consumer({**settings, "group.id": "g"})
        consumer.commit(offsets=[TopicPartition("many", n, 5) for n in range(PARTITIONS)], asynchronous=False)
        consumer.close()
        monitor = KafkaMonitor(broker.bootstrap, [GroupSource(group="g", topics=("many",))])
        took = []
        for _ in range(LOOKS):
            begun = time.perf_counter()
            (seen,) = monitor.observe()
            took.append(time.perf_counter() - begun)
            assert np.isfinite(seen.end_events).all()
        monitor.close()
    return [Measurement("monitor: 1,000 partitions observed, median", 1000 * median(took), "ms", 200.0, at_least=False)]
