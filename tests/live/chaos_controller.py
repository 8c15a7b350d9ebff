"""A controller for the chaos run: leads when Kafka says so, and wants something else every few seconds.

Far more restless than any policy: partitions are on the move while things are killed. Once the file `settle` is in the
folder it wants one thing only, and writes into `settled` when that stands.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeVar

from tests.live.processes_end import end_with_test, module_command

from sluice.control.leadership import Leadership
from sluice.errors import UnavailableError
from sluice.execute.control_link import ControlLink
from sluice.execute.local import LocalConsumers
from sluice.execute.managed import ManagedExecutor
from sluice.execute.processes import Processes
from sluice.model import Action, Assignment, Partition, Plan, Reason

T = TypeVar("T")
RESTLESS_S = 4.0
NAMES = ("c0", "c1", "c2", "c3")


def wanted(partitions: tuple[Partition, ...], moment: int) -> Assignment:
    """The same for every controller at the same time."""
    random = Random(moment)
    names = random.sample(NAMES, random.randint(2, len(NAMES)))
    owned: dict[str, list[Partition]] = {name: [] for name in names}
    for partition in partitions:
        owned[random.choice(names)].append(partition)
    return Assignment.of(owned, partitions=partitions)


def main(bootstrap: str, group: str, topic: str, count: int, folder: Path) -> None:
    partitions = tuple(Partition(topic, number) for number in range(count))
    environment = {
        "SLUICE_BOOTSTRAP": bootstrap,
        "SLUICE_GROUP": group,
        "SLUICE_TOPICS": topic,
        "RECORD_FOLDER": str(folder),
    }
    processes = Processes(module_command("tests.live.recording_consumer"), environment=environment, folder=folder)
    lead = insist(lambda: Leadership(bootstrap, group))
    executor = ManagedExecutor(insist(lambda: ControlLink(bootstrap, group, client={})), LocalConsumers(processes))
    while True:
        time.sleep(0.25)
        if lead.epoch is None:
            continue
        settle = (folder / "settle").exists()
        target = wanted(partitions, 0 if settle else int(time.time() / RESTLESS_S))
        receipt = executor.apply(
            Plan(
                group=group,
                time_s=time.time(),
                policy="restless",
                action=Action.REASSIGN,
                current=executor.assignment(partitions),
                target=target,
                reason=Reason("restless"),
            )
        )
        if settle and receipt.complete:
            (folder / "settled").write_text(str(time.clock_gettime(time.CLOCK_BOOTTIME)))


def insist(connect: Callable[[], T]) -> T:
    """A controller that comes up while the broker is down waits for it."""
    while True:
        try:
            return connect()
        except UnavailableError:
            time.sleep(0.2)


if __name__ == "__main__":
    end_with_test()
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), Path(sys.argv[5]))
