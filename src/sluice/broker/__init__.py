"""A real single-node Kafka for development and tests: fetched once, started and stopped on this machine."""

from sluice.broker.cache import resolve
from sluice.broker.server import Broker

__all__ = ["Broker", "resolve"]
