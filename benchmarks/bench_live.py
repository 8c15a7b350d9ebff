"""Managed consumers on a real broker: how long a moved partition stands still, and what the SDK costs."""

import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event as Flag
from threading import Thread

import numpy as np
from benchmarks.live_rig import create_topic, environment, managed, process, wait_for
from benchmarks.measure import Measurement
from confluent_kafka import Producer

from sluice.broker import Broker
from sluice.lab.live.capacity import fill

PARTITIONS = 4
EVENTS_PER_S = 250.0
"""Of each partition: a handover cannot be seen more finely than the time between two events."""
MOVES = 100
REBALANCES = 6
COUNT = 400_000
ROUNDS = 3

PAYMENT = b'{"id": 4711, "account": "DE02120300000000202051", "amount": 129.95, "currency": "EUR", "tag": "a"}'
# What is timed, and by which consumer.
CASES = {
    "loop": "loop",
    "managed": "managed",
    "batches": "batches",
    "managed-batches": "managed-batches",
    "batches-json": "batches",
    "managed-json": "managed-batches",
}

Seen = dict[int, list[tuple[float, int]]]
"""Partition → (time, process) of its events, in the order of time."""


def run() -> list[Measurement]:
    with Broker() as broker, TemporaryDirectory(prefix="sluice-bench-") as temporary:
        folder = Path(temporary)
        return [*_handover(broker.bootstrap, folder), *_throughput(broker.bootstrap, folder)]


def _handover(bootstrap: str, folder: Path) -> list[Measurement]:
    ours = _managed_moves(bootstrap, folder / "moves")
    eager_ms = _eager_moves(bootstrap, folder / "eager")
    moved_ms, others_ms, calm_ms = ours
    return [
        Measurement("live: pause of a moved partition, p99", _p(moved_ms, 99), "ms", 100.0, False),
        Measurement("live: pause of a moved partition, median", _p(moved_ms, 50), "ms", 50.0, False),
        Measurement(
            "live: longest gap of partitions not moved, over that without moves",
            _p(others_ms, 99) / _p(calm_ms, 99),
            "ratio",
            2.0,
            False,
        ),
        Measurement(
            "live: pause of every partition, eager rebalance, over ours",
            _p(eager_ms, 50) / _p(moved_ms, 50),
            "ratio",
        ),
        Measurement("live: pause of every partition, eager rebalance, median", _p(eager_ms, 50), "ms"),
    ]


def _managed_moves(bootstrap: str, folder: Path) -> tuple[list[float], list[float], list[float]]:
    """Partition 0 goes to and fro between two consumers, 1 and 2 stay where they are; gaps in ms.

    Of the moved one, of the others while it moved, and of the others without any move.
    """
    create_topic(bootstrap, folder.name, PARTITIONS)
    folder.mkdir()
    windows: list[tuple[float, float]] = []
    calm: list[tuple[float, float]] = []
    with managed(bootstrap, folder.name, PARTITIONS, folder, RECORD_FOLDER=str(folder)) as group:
        group.reach({"c0": [0, 1], "c1": [2, 3]})
        with _flow(bootstrap, folder.name):
            time.sleep(2.0)
            for number in range(MOVES):
                began_s = time.monotonic()
                group.reach({"c0": [1], "c1": [0, 2, 3]} if number % 2 == 0 else {"c0": [0, 1], "c1": [2, 3]})
                time.sleep(0.1)
                windows.append((began_s, time.monotonic()))
                # As long again without a move, for comparison.
                time.sleep(windows[-1][1] - began_s)
                calm.append((windows[-1][1], time.monotonic()))
            time.sleep(0.5)
    seen = _read(folder)
    moved = [1000 * gap for gap, changed in _gaps(seen[0]) if changed]
    return moved, _longest(seen, windows, (1, 2, 3)), _longest(seen, calm, (1, 2, 3))


def _longest(seen: Seen, windows: list[tuple[float, float]], numbers: Iterable[int]) -> list[float]:
    """The longest gap of each of the partitions in each window; in ms."""
    found = []
    for number in numbers:
        times = np.array([time_s for time_s, _ in seen[number]])
        for begin_s, end_s in windows:
            inside = times[(times >= begin_s) & (times <= end_s)]
            if len(inside) > 1:
                found.append(1000 * float(np.diff(inside).max()))
    return found


def _eager_moves(bootstrap: str, folder: Path) -> list[float]:
    """A third consumer joins and leaves a group of two under Kafka's eager protocol; the gaps it makes, in ms."""
    create_topic(bootstrap, folder.name, PARTITIONS)
    folder.mkdir()
    variables = environment(bootstrap, folder.name, folder.name, RECORD_FOLDER=str(folder))
    windows: list[tuple[float, float]] = []
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(process("group", variables))
        stack.enter_context(_flow(bootstrap, folder.name))
        wait_for(lambda: len(_read(folder)) == PARTITIONS, 60.0)
        time.sleep(2.0)
        for _ in range(REBALANCES):
            windows_from_s = time.monotonic()
            with process("group", variables) as third:
                wait_for(partial(_written, folder / f"{third.pid}.times"), 60.0)
                time.sleep(1.0)
                windows.append((windows_from_s, time.monotonic()))
                # In order: the group hears of the leaver at once, as it does of ours.
                third.terminate()
                third.wait(20)
                time.sleep(1.5)
                windows.append((windows[-1][1], time.monotonic()))
    return _longest(_read(folder), windows, range(PARTITIONS))


def _written(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _throughput(bootstrap: str, folder: Path) -> list[Measurement]:
    """Rounds of each in turn, so that what else the machine does hits all alike."""
    create_topic(bootstrap, "filled", PARTITIONS)
    fill(bootstrap, "filled", PARTITIONS, COUNT, PAYMENT)
    took: dict[str, list[float]] = defaultdict(list)
    for number in range(ROUNDS):
        for case, mode in CASES.items():
            out = folder / f"{case}-{number}.out"
            further = {"COUNT": str(COUNT), "OUT": str(out), **({"PARSE": "1"} if case.endswith("json") else {})}
            took[case].append(_time(bootstrap, mode, folder / out.stem, out, further))
    best = {case: statistics.median(times) for case, times in took.items()}
    return [
        Measurement("live: managed over a bare poll loop", best["loop"] / best["managed"], "ratio", 0.9, True),
        Measurement(
            "live: managed batches over a bare batch loop, JSON parsed",
            best["batches-json"] / best["managed-json"],
            "ratio",
        ),
        Measurement(
            "live: managed batches over a bare batch loop, no work",
            best["batches"] / best["managed-batches"],
            "ratio",
        ),
        Measurement("live: managed throughput, empty handler", COUNT / best["managed"], "events/s"),
    ]


def _time(bootstrap: str, mode: str, folder: Path, out: Path, further: dict[str, str]) -> float:
    """Seconds from the first event to the last."""
    if mode.startswith("managed"):
        with managed(bootstrap, "filled", PARTITIONS, folder, mode=mode, **further) as group:
            group.reach({"c0": range(PARTITIONS)})
            wait_for(partial(_written, out), 120.0)
    else:
        with process(mode, environment(bootstrap, folder.name, "filled", **further)):
            wait_for(partial(_written, out), 120.0)
    return float(out.read_text())


@contextmanager
def _flow(bootstrap: str, topic: str) -> Iterator[None]:
    """Events at an even rate to every partition."""
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 0})
    stop = Flag()

    def send() -> None:
        due_s = time.monotonic()
        while not stop.is_set():
            for number in range(PARTITIONS):
                producer.produce(topic, b"x", partition=number)
            producer.poll(0)
            due_s += 1 / EVENTS_PER_S
            time.sleep(max(due_s - time.monotonic(), 0.0))

    thread = Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        producer.flush(20)


def _read(folder: Path) -> Seen:
    seen: Seen = defaultdict(list)
    for path in folder.glob("*.times"):
        for line in path.read_text().splitlines():
            parts = line.split()
            if len(parts) == 3:
                seen[int(parts[1])].append((float(parts[0]), int(path.stem)))
    return {number: sorted(events) for number, events in seen.items()}


def _gaps(events: list[tuple[float, int]]) -> list[tuple[float, bool]]:
    """Time from each event to the next, and whether the partition changed hands in between."""
    return [(b[0] - a[0], a[1] != b[1]) for a, b in pairwise(events)]


def _p(values: list[float], percent: float) -> float:
    return float(np.percentile(values, percent))
