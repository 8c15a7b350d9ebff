"""Sends clicks (small) and orders (large) at rates that wander.

python examples/lake/producer.py --seconds 120
"""

import argparse
import os
import random
import time

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.broker.record import running

# Topic: partitions, bytes of a message, bytes a second of a partition at most.
TOPICS = {"clicks": (8, 300, 200_000), "orders": (4, 20_000, 800_000)}


def main() -> None:
    found = running()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", default=found.bootstrap if found else None, help="HOST:PORT of the broker")
    parser.add_argument("--seconds", type=int, default=120)
    arguments = parser.parse_args()
    if arguments.bootstrap is None:
        parser.error("no development broker runs; start one with 'sluice broker up' or give --bootstrap")
    admin = AdminClient({"bootstrap.servers": arguments.bootstrap})
    for topic, (partitions, _, _) in TOPICS.items():
        try:
            admin.create_topics([NewTopic(topic, num_partitions=partitions)])[topic].result(10)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
    producer = Producer({"bootstrap.servers": arguments.bootstrap, "linger.ms": 50})
    share = {(topic, n): random.random() for topic, (partitions, _, _) in TOPICS.items() for n in range(partitions)}
    started = time.monotonic()
    for second in range(arguments.seconds):
        for (topic, number), level in share.items():
            _, size, most_bps = TOPICS[topic]
            for _ in range(round(level * most_bps / size)):
                producer.produce(topic, os.urandom(size), partition=number)
                producer.poll(0)
            share[topic, number] = min(max(level + random.uniform(-0.05, 0.05), 0.0), 1.0)
        time.sleep(max(started + second + 1 - time.monotonic(), 0))
    producer.flush()


if __name__ == "__main__":
    main()
