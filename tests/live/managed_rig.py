"""A managed group on a real broker: consumer processes that write down what they do, and one controller."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer
from tests.live.processes_end import module_command, module_environment

from sluice.execute.control_link import ControlLink
from sluice.execute.local import LocalConsumers
from sluice.execute.managed import ManagedExecutor
from sluice.execute.processes import Processes
from sluice.execute.timing import Timing
from sluice.model import Action, Assignment, Partition, Plan, Reason, Receipt

RECORDING = tuple(module_command("tests.live.recording_consumer"))


class Handled(NamedTuple):
    """An event as a consumer process wrote it down."""

    time_s: float
    partition: Partition
    offset: int
    value: str
    process: str


class Rig:
    """Everything a test of one group needs."""

    def __init__(
        self,
        bootstrap: str,
        group: str,
        topic: str,
        partitions: int,
        folder: Path,
        *,
        command: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        self.bootstrap = bootstrap
        self.group = group
        self.topic = topic
        self.partitions = tuple(Partition(topic, number) for number in range(partitions))
        self.folder = folder
        self.environment = {
            **module_environment(),
            "SLUICE_BOOTSTRAP": bootstrap,
            "SLUICE_GROUP": group,
            "SLUICE_TOPICS": topic,
            "RECORD_FOLDER": str(folder),
            **environment,
        }
        self.processes = Processes(command, environment=self.environment, folder=folder)
        self.executor = self.new_executor()
        self._producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
        self.sent = 0

    def new_executor(self) -> ManagedExecutor:
        link = ControlLink(self.bootstrap, self.group, client={})
        return ManagedExecutor(link, LocalConsumers(self.processes), timing=Timing(startup_limit_s=60.0))

    def produce(self, count: int) -> None:
        """Numbered events, dealt over the partitions."""
        for number in range(self.sent, self.sent + count):
            partition = self.partitions[number % len(self.partitions)]
            self._producer.produce(self.topic, str(number).encode(), partition=partition.number)
            self._producer.poll(0)
        self.sent += count
        self._producer.flush(30)

    def send(self, value: bytes, partition: int) -> None:
        self._producer.produce(self.topic, value, partition=partition)
        self._producer.flush(30)

    def reach(self, owned: Mapping[str, Sequence[int]], limit_s: float = 60.0) -> list[Receipt]:
        """Apply the plan, tick by tick, until it is done; the receipts."""
        plan = self.plan(owned)
        receipts = []
        deadline_s = time.monotonic() + limit_s
        while time.monotonic() < deadline_s:
            receipts.append(self.executor.apply(plan))
            if receipts[-1].complete:
                return receipts
        raise AssertionError(f"not reached within {limit_s} s: {[r.problem for r in receipts[-3:]]}")

    def plan(self, owned: Mapping[str, Sequence[int]]) -> Plan:
        """Who is to have which partitions."""
        target = Assignment.of(
            {name: [self.partitions[number] for number in numbers] for name, numbers in owned.items()},
            partitions=self.partitions,
        )
        return Plan(
            group=self.group,
            time_s=0.0,
            policy="test",
            action=Action.REASSIGN,
            current=self.executor.assignment(self.partitions),
            target=target,
            reason=Reason("a test says so"),
        )

    def pid(self, consumer: str) -> int:
        """The process of a consumer; the newest when there are several."""
        notes = [note for note in self.processes.running() if note.rpartition(".")[0] == consumer]
        return max((pid for note in notes if (pid := self.processes.pid(note)) is not None), default=0)

    def handled(self) -> list[Handled]:
        """Every event every process has handled, in the order of time."""
        found = []
        for path in self.folder.glob("*.jsonl"):
            for line in path.read_text().splitlines():
                time_s, kind, *rest = json.loads(line)
                if kind == "event":
                    found.append(Handled(time_s, Partition.parse(rest[0]), rest[1], rest[2], path.stem))
        return sorted(found)

    def said(self) -> list[str]:
        """What the SDK said, of all processes."""
        lines = [json.loads(line) for path in self.folder.glob("*.jsonl") for line in path.read_text().splitlines()]
        return [str(line[2]) for line in sorted(lines, key=lambda line: float(line[0])) if line[1] == "log"]

    def counts(self) -> Counter[tuple[Partition, int]]:
        return Counter((event.partition, event.offset) for event in self.handled())

    def close(self) -> None:
        self.executor.close()
        for note in self.processes.running():
            self.processes.kill(note)
        eventually(lambda: not self.processes.running(), 10.0)


@contextmanager
def rig(
    bootstrap: str,
    group: str,
    topic: str,
    partitions: int,
    folder: Path,
    *,
    command: Sequence[str] = RECORDING,
    **environment: str,
) -> Iterator[Rig]:
    made = Rig(bootstrap, group, topic, partitions, folder, command=command, environment=environment)
    try:
        yield made
    finally:
        made.close()


def eventually(condition: Callable[[], bool], limit_s: float) -> None:
    """Wait until it holds."""
    deadline_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline_s:
            raise AssertionError(f"it did not come true within {limit_s} s")
        time.sleep(0.02)
