"""A group of real consumer processes on a real broker, the events that flow to it, and what it made of them."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer

from sluice.execute.board import PlanBoard
from sluice.model import Assignment, Partition
from sluice.sdk.group_settings import GroupSettings

MEMBER = Path(__file__).with_name("group_member.py")
LOOK_BACK_S = 0.4
STANDING_S = 3600.0
"""How old a plan may grow: a test puts it up once, where a controller stands by it with every tick."""


class Note(NamedTuple):
    """One handled event."""

    partition: int
    offset: int
    arrived_s: float
    done_s: float
    consumer: str

    @property
    def latency_s(self) -> float:
        return self.done_s - self.arrived_s


class Feed:
    """Events to every partition in turn, evenly spaced, until it is stopped."""

    def __init__(self, bootstrap: str, topics: Iterable[str], partitions: int, rate_eps: float) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1, "log_level": 0})
        self._topics = tuple(topics)
        self._partitions = partitions
        self._gap_s = partitions / rate_eps
        self._stop = threading.Event()
        self.sent = 0
        """Events each partition of each topic has got."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        assert self._producer.flush(10) == 0

    def _run(self) -> None:
        while not self._stop.wait(self._gap_s):
            for topic in self._topics:
                for number in range(self._partitions):
                    self._producer.produce(topic, b"x", partition=number)
            self.sent += 1
            self._producer.poll(0)


class Group:
    """One consumer group of processes; `folder` holds their notes."""

    def __init__(
        self,
        *,
        bootstrap: str,
        group: str,
        topic: str,
        folder: Path,
        settings: GroupSettings,
        controller: str,
        service_s: float = 0.002,
        held: int = -1,
    ) -> None:
        self.group = group
        self.topic = topic
        self._folder = folder / group
        self._folder.mkdir()
        self.hold = self._folder / "hold"
        self._environment = {
            **os.environ,
            **settings.to_environment(),
            "SLUICE_MODE": "group",
            "SLUICE_BOOTSTRAP": bootstrap,
            "SLUICE_GROUP": group,
            "SLUICE_TOPICS": topic,
            "SLUICE_CONTROLLER": controller,
            "SERVICE_S": str(service_s),
            "HOLD": str(self.hold),
            "HELD": str(held),
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, *names: str) -> None:
        for name in names:
            own = {"SLUICE_CONSUMER": name, "NOTES": str(self._folder / f"{name}.notes")}
            with (self._folder / f"{name}.err").open("ab") as err:
                self.processes[name] = subprocess.Popen(
                    [sys.executable, str(MEMBER)], env={**self._environment, **own}, stderr=err
                )

    def signal(self, name: str, number: signal.Signals) -> None:
        self.processes[name].send_signal(number)

    def close(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def notes(self) -> list[Note]:
        """Every event handled so far, in the order of time."""
        return sorted(self._read(), key=lambda note: note.done_s)

    def owners(self) -> dict[int, set[str]]:
        """Partition → who has handled its events just now."""
        since_s = time.time() - LOOK_BACK_S
        seen: dict[int, set[str]] = {}
        for note in self._read(tail_bytes=8192):
            if note.done_s > since_s:
                seen.setdefault(note.partition, set()).add(note.consumer)
        return seen

    def _read(self, tail_bytes: int | None = None) -> Iterator[Note]:
        for path in self._folder.glob("*.notes"):
            with path.open("rb") as file:
                if tail_bytes is not None:
                    file.seek(max(0, path.stat().st_size - tail_bytes))
                # Half a line at the end was left by a killed process, or is being written.
                lines = file.read().decode().split("\n")[:-1]
            for line in lines:
                fields = line.split()
                if len(fields) == 4:  # the first one of a tail may be half as well
                    number, offset, arrived_s, done_s = fields
                    yield Note(int(number), int(offset), float(arrived_s), float(done_s), path.stem)

    def said(self, name: str) -> str:
        """What a consumer wrote to its standard error."""
        return (self._folder / f"{name}.err").read_text()


def plan_of(topic: str, **owned: Iterable[int]) -> Assignment:
    return Assignment.of({name: [Partition(topic, n) for n in numbers] for name, numbers in owned.items()})


def publish(board: PlanBoard, group: Group, **owned: Iterable[int]) -> None:
    board.publish(group.group, plan_of(group.topic, **owned))


def wait_until(condition: Callable[[], bool], limit_s: float, what: str) -> float:
    """Seconds until the condition held; fails the test when it does not in time."""
    started_s = time.monotonic()
    while not condition():
        assert time.monotonic() - started_s < limit_s, f"not within {limit_s} s: {what}"
        time.sleep(0.05)
    return time.monotonic() - started_s


def wait_for_owners(group: Group, limit_s: float = 30.0, **owned: Iterable[int]) -> float:
    wanted = {number: {name} for name, numbers in owned.items() for number in numbers}
    return wait_until(lambda: group.owners() == wanted, limit_s, f"{group.group}: {wanted}, but {group.owners()}")
