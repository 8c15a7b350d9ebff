"""Sends payments: each second's as one burst, over a day of ten minutes with three peaks; `--speed 10` makes it one.

python examples/payments/producer.py --speed 10

Makes the topic at once; the day begins when consumers of the group report, or at once with `--group ""`.
"""

import argparse
import math
import random
import time
from itertools import pairwise

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from confluent_kafka.cimpl import NewTopic

from sluice.broker.record import running
from sluice.model.telemetry import telemetry_topic

# Seconds of the day and payments a second; half a cosine leads from each to the next.
DAY = ((0, 0), (125, 200), (212.5, 150), (300, 275), (387.5, 150), (475, 350), (600, 0))


def rate_eps(second: float) -> float:
    for (t0, r0), (t1, r1) in pairwise(DAY):
        if t0 <= second < t1:
            return r0 + (r1 - r0) * (1 - math.cos(math.pi * (second - t0) / (t1 - t0))) / 2
    return 0.0


def create_topic(bootstrap: str, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    try:
        admin.create_topics([NewTopic(topic, num_partitions=partitions)])[topic].result(10)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise


def wait_for_consumers(bootstrap: str, group: str) -> None:
    """Until somebody reports for the group."""
    admin, place = AdminClient({"bootstrap.servers": bootstrap}), TopicPartition(telemetry_topic(group), 0)
    first: int | None = None
    while True:
        try:
            end = admin.list_offsets({place: OffsetSpec.latest()})[place].result(10).offset
        except KafkaException:
            end = 0  # the controller makes the topic when it comes
        first = end if first is None else first
        if end > first:
            return
        time.sleep(0.2)


def main() -> None:
    found = running()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", default=found.bootstrap if found else None, help="HOST:PORT of the broker")
    parser.add_argument("--topic", default="payments")
    parser.add_argument("--group", default="payments", help="wait for its consumers; empty: begin at once")
    parser.add_argument("--partitions", type=int, default=5)
    parser.add_argument("--speed", type=float, default=1.0, help="how much faster the day passes")
    arguments = parser.parse_args()
    if arguments.bootstrap is None:
        parser.error("no development broker runs; start one with 'sluice broker up' or give --bootstrap")
    create_topic(arguments.bootstrap, arguments.topic, arguments.partitions)
    if arguments.group:
        print(f"waiting for consumers of {arguments.group}", flush=True)
        wait_for_consumers(arguments.bootstrap, arguments.group)
    producer = Producer({"bootstrap.servers": arguments.bootstrap})
    started = time.monotonic()
    for second in range(math.ceil(600 / arguments.speed)):
        count = math.ceil(rate_eps((second + 0.5) * arguments.speed))
        for number in range(count):
            payment = f'{{"amount": {random.randint(1, 500)}}}'
            producer.produce(arguments.topic, payment, partition=number % arguments.partitions)
        producer.poll(0)
        print(f"\rsecond {second + 1}: {count} payments ", end="", flush=True)
        time.sleep(max(started + second + 1 - time.monotonic(), 0))
    producer.flush()
    print()


if __name__ == "__main__":
    main()
