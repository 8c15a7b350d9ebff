"""Observe consumer groups of a Kafka cluster through its admin interface and the consumers' own reports."""

from sluice.monitor.kafka.monitor import KafkaMonitor
from sluice.monitor.kafka.source import GroupSource, Ownership
from sluice.monitor.kafka.standing import Standing
from sluice.monitor.kafka.stream import StreamMonitor

__all__ = ["GroupSource", "KafkaMonitor", "Ownership", "Standing", "StreamMonitor"]
