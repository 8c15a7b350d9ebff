"""What one consumer can read, by partitions and by sizes of messages.

The consumer works in cycles: gather up to so many bytes or for so long, send them to a sink, commit. Its
capacity should be the sink's, whatever the messages look like: then one number C̄ is enough to plan with.
"""

import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from confluent_kafka import Producer

from sluice.errors import InputError, UnavailableError
from sluice.execute.control_link import ControlLink
from sluice.execute.local import LocalConsumers
from sluice.execute.managed import ManagedExecutor
from sluice.execute.processes import Processes
from sluice.lab.live.footprint import own_topics, stopped
from sluice.lab.live.parent import parent_environment
from sluice.lab.live.sink_consumer import RECORD
from sluice.model import Action, Assignment, Partition, Plan, Reason

READY_LIMIT_S = 60.0
FILL_LIMIT_S = 60.0
# Beyond what the sink alone would take.
READ_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """How the consumer works."""

    sink_bps: float = 2_300_000.0
    batch_bytes: int = 1_000_000
    wait_s: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What was measured with so many partitions of such messages."""

    partitions: int
    size_bytes: int
    events: int
    cycles: int
    cycle_s: float
    """Median time from one batch to the next."""
    capacity_bps: float
    capacity_eps: float


def checked_capacity(cycle: Cycle, seconds: float) -> None:
    """InputError when there would be too little to measure."""
    needed_s = 3 * cycle.batch_bytes / cycle.sink_bps
    if seconds < needed_s:
        raise InputError(f"seconds is {seconds:g}; give {needed_s:.3g} or more, three batches at the sink's speed")


def bench_capacity(
    partitions: Sequence[int],
    sizes_bytes: Sequence[int],
    *,
    cycle: Cycle,
    seconds: float,
    bootstrap: str,
    folder: Path,
    on_done: Callable[[int], None] = lambda _: None,
) -> tuple[Capacity, ...]:
    """One run for each pair; each reads as much as the sink takes in `seconds`."""
    found: list[Capacity] = []
    for count in partitions:
        for size_bytes in sizes_bytes:
            name = f"capacity-{uuid.uuid4().hex[:6]}"
            found.append(_measure(name, count, size_bytes, cycle, seconds, bootstrap, folder / name))
            on_done(len(found))
    return tuple(found)


def _measure(
    name: str, partitions: int, size_bytes: int, cycle: Cycle, seconds: float, bootstrap: str, folder: Path
) -> Capacity:
    folder.mkdir(parents=True, exist_ok=True)
    count = max(int(seconds * cycle.sink_bps / size_bytes), 1)
    processes = Processes(
        ("python", "-m", "sluice.lab.live.sink_consumer"),
        environment={
            "SLUICE_BOOTSTRAP": bootstrap,
            "SLUICE_GROUP": name,
            "SLUICE_TOPICS": name,
            "SLUICE_MODE": "managed",
            # A poll brings one batch at most: what is gathered beyond it would make the batch bigger than was asked.
            "SLUICE_MAX_POLL_EVENTS": str(max(cycle.batch_bytes // size_bytes, 1)),
            "SINK_FOLDER": str(folder),
            "SINK_BPS": str(cycle.sink_bps),
            "SINK_BATCH_BYTES": str(cycle.batch_bytes),
            "SINK_WAIT_S": str(cycle.wait_s),
            **parent_environment(),
        },
        folder=folder / "consumer",
    )
    with ExitStack() as stack:
        stack.enter_context(own_topics(bootstrap, {name: partitions}, group=name))
        fill(bootstrap, name, partitions, count, b"x" * size_bytes)
        stack.callback(stopped, processes)
        executor = ManagedExecutor(ControlLink(bootstrap, name, client={}), LocalConsumers(processes))
        stack.callback(executor.close)
        _assign_all(executor, name, partitions)
        return _read(folder, partitions, size_bytes, count, cycle.sink_bps, time.monotonic() + seconds + READ_LIMIT_S)


def fill(bootstrap: str, topic: str, partitions: int, count: int, value: bytes) -> None:
    """Write `count` events, one partition after the other."""
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 20})
    for number in range(count):
        while True:
            try:
                producer.produce(topic, value, partition=number % partitions)
                break
            except BufferError:
                producer.poll(0.05)
    if producer.flush(FILL_LIMIT_S):
        raise UnavailableError("the broker did not take all events; is it overloaded?")


def _assign_all(executor: ManagedExecutor, topic: str, count: int) -> None:
    """One consumer, and it reads everything."""
    partitions = tuple(Partition(topic, number) for number in range(count))
    plan = Plan(
        group=topic,
        time_s=0.0,
        policy="capacity",
        action=Action.UP,
        current=Assignment.of({}, partitions=partitions),
        target=Assignment.of({"c0": partitions}, partitions=partitions),
        reason=Reason("one consumer reads everything"),
    )
    deadline_s = time.monotonic() + READY_LIMIT_S
    while not (receipt := executor.apply(plan)).complete:
        if time.monotonic() > deadline_s:
            raise UnavailableError(f"the consumer did not start: {receipt.problem}")


def _read(folder: Path, partitions: int, size_bytes: int, count: int, sink_bps: float, deadline_s: float) -> Capacity:
    """From the end of the first batch, when everything is warm, to that of the last."""
    kind = np.dtype([("begun_s", "<f8"), ("ended_s", "<f8"), ("bytes", "<i8"), ("events", "<i8")])
    while True:
        parts = [path.read_bytes() for path in folder.glob("*.batches")]
        batches = np.concatenate(
            [np.empty(0, dtype=kind), *(np.frombuffer(p, dtype=kind, count=len(p) // RECORD.size) for p in parts)]
        )
        if batches["events"].sum() >= count:
            break
        if time.monotonic() > deadline_s:
            raise UnavailableError(f"{int(batches['events'].sum())} of {count} events were read in time")
        time.sleep(0.1)
    ended_s = batches["ended_s"]
    # The last batch is small and has waited for more to come.
    whole = slice(1, -1) if len(batches) > 2 else slice(1, None)
    # The first batch ends when the sink could have had it: what its sleep was too long the later ones make up for, and
    # the consumer would seem faster than its sink.
    first_end_s = batches["begun_s"][0] + batches["bytes"][0] / sink_bps
    took_s = float(ended_s[whole][-1] - first_end_s)
    return Capacity(
        partitions=partitions,
        size_bytes=size_bytes,
        events=count,
        cycles=len(batches),
        cycle_s=float(np.median(np.diff(ended_s[: len(batches) - 1 if len(batches) > 2 else None]))),
        capacity_bps=float(batches["bytes"][whole].sum()) / took_s,
        capacity_eps=float(batches["events"][whole].sum()) / took_s,
    )
