"""A topic with events, and the consumer processes that read it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.execute.control_link import ControlLink
from sluice.execute.local import LocalConsumers
from sluice.execute.managed import ManagedExecutor
from sluice.execute.processes import Processes
from sluice.model import Action, Assignment, Partition, Plan, Reason

ROOT = Path(__file__).parents[1]


def create_topic(bootstrap: str, name: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(name, num_partitions=partitions)])[name].result(20)


def environment(bootstrap: str, group: str, topic: str, **further: str) -> dict[str, str]:
    places = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(place for place in places if place),
        "SLUICE_BOOTSTRAP": bootstrap,
        "SLUICE_GROUP": group,
        "SLUICE_TOPICS": topic,
        **further,
    }


def command(mode: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.live_consumer", mode]


@contextmanager
def process(mode: str, variables: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """One consumer process, killed at the end."""
    started = subprocess.Popen(command(mode), env={**os.environ, **variables})
    try:
        yield started
    finally:
        started.kill()
        started.wait()


class Managed:
    """A managed group: moves partitions, one plan after the other."""

    def __init__(self, bootstrap: str, group: str, topic: str, partitions: int, processes: Processes) -> None:
        self._group = group
        self._partitions = tuple(Partition(topic, number) for number in range(partitions))
        self._executor = ManagedExecutor(ControlLink(bootstrap, group, client={}), LocalConsumers(processes))

    def reach(self, owned: Mapping[str, Sequence[int]], limit_s: float = 60.0) -> None:
        target = Assignment.of(
            {name: [self._partitions[n] for n in numbers] for name, numbers in owned.items()},
            partitions=self._partitions,
        )
        plan = Plan(
            group=self._group,
            time_s=0.0,
            policy="benchmark",
            action=Action.REASSIGN,
            current=self._executor.assignment(self._partitions),
            target=target,
            reason=Reason("benchmark"),
        )
        wait_for(lambda: self._executor.apply(plan).complete, limit_s)

    def close(self) -> None:
        self._executor.close()


@contextmanager
def managed(
    bootstrap: str, topic: str, partitions: int, folder: Path, *, mode: str = "managed", **further: str
) -> Iterator[Managed]:
    """A managed group named like its folder; its processes are killed at the end."""
    variables = environment(bootstrap, folder.name, topic, **further)
    processes = Processes(command(mode), environment=variables, folder=folder)
    group = Managed(bootstrap, folder.name, topic, partitions, processes)
    try:
        yield group
    finally:
        group.close()
        while notes := processes.running():
            for note in notes:
                processes.kill(note)
            time.sleep(0.02)


def wait_for(condition: Callable[[], bool], limit_s: float) -> None:
    deadline_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"it did not come true within {limit_s:g} s")
        time.sleep(0.02)
