"""What runs inside a consumer: `run(handler)`, or `run_batches(handler)`."""

from sluice.sdk.batching import Batch
from sluice.sdk.event import Event
from sluice.sdk.failure import HandlerFailedError, OnError, Policy
from sluice.sdk.runner import run, run_batches
from sluice.sdk.settings import ConsumerSettings, Mode

__all__ = [
    "Batch",
    "ConsumerSettings",
    "Event",
    "HandlerFailedError",
    "Mode",
    "OnError",
    "Policy",
    "run",
    "run_batches",
]
