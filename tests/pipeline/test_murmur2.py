"""Keys go where Kafka's own clients send them."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from confluent_kafka import KafkaError, Message, Producer
from kafka.partitioner.default import murmur2 as kafka_python_murmur2
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn
from pyspark.testing import assertDataFrameEqual

from sluice.broker import Broker
from sluice.pipeline.traces.place import kafka_partition
from sluice.theory.murmur2 import partition_of_key, partitions_of_keys

PARTITIONS = 37
KEYS = 100_000


@pytest.fixture(scope="module")
def keys() -> list[bytes]:
    random = Random(20)
    return [random.randbytes(random.randrange(0, 40)) for _ in range(KEYS)]


@pytest.fixture(scope="module")
def chosen(keys: list[bytes]) -> list[int]:
    offsets = np.concatenate(([0], np.cumsum([len(key) for key in keys]))).astype(np.int32)
    data = np.frombuffer(b"".join(keys), dtype=np.uint8)
    return [int(partition) for partition in partitions_of_keys(data, offsets, PARTITIONS)]


def test_equals_kafka_python_for_100_000_keys(keys: list[bytes], chosen: list[int]) -> None:
    expected = [(kafka_python_murmur2(key) & 0x7FFFFFFF) % PARTITIONS for key in keys]
    assert chosen == expected


def test_equals_librdkafka_for_100_000_keys(
    keys: list[bytes], chosen: list[int], broker: Broker, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(PARTITIONS, stem="murmur2")
    landed: dict[int, int] = {}

    def keep(number: int) -> Callable[[KafkaError | None, Message], None]:
        def delivered(error: KafkaError | None, message: Message) -> None:
            assert error is None
            landed[number] = message.partition() or 0

        return delivered

    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap,
            "partitioner": "murmur2",
            "linger.ms": 50,
            "queue.buffering.max.messages": 2 * KEYS,
        }
    )
    for number, key in enumerate(keys):
        producer.produce(topic, key=key, value=b"", on_delivery=keep(number))
        producer.poll(0)
    producer.flush(60)
    assert len(landed) == KEYS
    assert [n for n in range(KEYS) if landed[n] != chosen[n]] == []


@pytest.mark.parametrize(
    ("key", "hashed"),
    # From the Java client's own test of Utils.murmur2.
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_equals_the_java_client(key: bytes, hashed: int) -> None:
    assert partition_of_key(key, 1 << 31) == hashed & 0x7FFFFFFF


def test_as_a_column_nulls_stay_null(spark: SparkSession, keys: list[bytes], chosen: list[int]) -> None:
    rows = [(i, bytearray(key)) for i, key in enumerate(keys[:500])]
    frame = spark.createDataFrame([*rows, (500, None)], "i int, key binary")
    # A filter before the hash: the batches that arrive are then slices of larger ones.
    found = frame.where(fn.col("i") >= 7).select("i", kafka_partition(fn.col("key"), PARTITIONS).alias("partition"))
    expected = spark.createDataFrame([*((i, chosen[i]) for i in range(7, 500)), (500, None)], "i int, partition int")
    assertDataFrameEqual(found, expected)
