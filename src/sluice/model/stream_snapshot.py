"""Snapshots as the telemetry stream publishes them for a controller that uses it as its monitor."""

import json
from typing import Any

from sluice.errors import InputError
from sluice.model.assignment import Partition
from sluice.model.codec import decode, encode
from sluice.model.snapshot import Snapshot


def workload_topic(group: str) -> str:
    """Where a group's snapshots are written."""
    return f"__sluice.{group}.workload"


def to_message(snapshot: Snapshot) -> bytes:
    data: dict[str, Any] = {"partitions": [str(p) for p in snapshot.partitions], "snapshot": encode(snapshot)}
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode()


def from_message(message: bytes) -> Snapshot:
    """InputError when the message is none of ours."""
    try:
        data = json.loads(message)
        partitions = tuple(Partition.parse(text) for text in data["partitions"])
        return decode(Snapshot, data["snapshot"], partitions)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"not a snapshot of this version: {type(error).__name__}: {error}") from error
