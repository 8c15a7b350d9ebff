"""Load that somebody else has measured: write speeds of partitions from a topic or a file."""

from sluice.monitor.measured.file import MeasurementFile
from sluice.monitor.measured.measurement import Measurement
from sluice.monitor.measured.monitor import MeasuredMonitor
from sluice.monitor.measured.topic import MeasurementTopic

__all__ = ["MeasuredMonitor", "Measurement", "MeasurementFile", "MeasurementTopic"]
