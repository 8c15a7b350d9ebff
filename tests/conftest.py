"""Fixtures of the live tests: one real broker for all of them, started when the first one asks for it."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from hypothesis import HealthCheck, settings

from sluice.broker import Broker

# The first call of a compiled kernel may compile for seconds: the clock says nothing about a property.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same code gets the same verdict; `pytest --hypothesis-profile explore` draws new examples each time.
settings.register_profile("sluice", settings.get_profile("explore"), derandomize=True)
settings.load_profile("sluice")

_numbers = count(1)


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """A real broker; `broker.bootstrap` is its address. Tests that stop or kill one start their own."""
    with Broker() as started:
        yield started


@pytest.fixture(scope="session")
def _second_broker() -> Iterator[Broker]:
    with Broker() as started:
        yield started


@pytest.fixture
def mortal(_second_broker: Broker) -> Broker:
    """A broker a test may kill and start again; it runs at the beginning of each test, whatever the last one did."""
    _second_broker.start()
    return _second_broker


@pytest.fixture(scope="session")
def unique() -> Callable[[str], str]:
    """Names nobody else uses: topics and groups of one test stay out of the way of the others."""
    return lambda stem: f"{stem}-{next(_numbers)}"


@pytest.fixture(scope="session")
def make_topic(broker: Broker, unique: Callable[[str], str]) -> Callable[..., str]:
    """Create a topic under a fresh name: `make_topic(partitions)`, with a stem and settings of the topic as wanted."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    from sluice.monitor.kafka.cluster import create_topics

    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})

    def create(partitions: int = 1, stem: str = "topic", **config: str) -> str:
        name = unique(stem)
        settings = {key.replace("_", "."): value for key, value in config.items()}
        new = NewTopic(name, num_partitions=partitions, replication_factor=1, config=settings)
        create_topics(admin, [new], limit_s=20.0)
        return name

    return create
