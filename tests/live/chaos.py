"""Kill and stop consumers, controllers and the broker at random while numbered events flow; then check everything.

python -m tests.live.chaos --faults 200 --seed 1
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tests.live.chaos_checks import (
    Tenancy,
    breaches,
    commits_gone_back,
    decode_commit,
    duplicates,
    longest_standstill_s,
    read_tenancies,
)
from tests.live.chaos_flow import PARTITIONS, TOPIC, Flow, now
from tests.live.processes_end import module_command, module_environment

from sluice.broker import Broker
from sluice.execute.processes import Processes
from sluice.model import Partition
from sluice.monitor.kafka.cluster import create_topics

GROUP, CONTROLLERS = "chaos", 2
CONVERGE_LIMIT_S = 15.0
OWNED_LIMIT_S = 60.0
FAULTS = (
    "kill consumer",
    "kill owner",
    "stop consumer",
    "stop consumer",
    "stop consumer",
    "kill controller",
    "stop controller",
    "kill broker",
    "stop broker",
)


@dataclass
class Outcome:
    """What a chaos run came to."""

    faults: Counter[str] = field(default_factory=Counter)
    events: int = 0
    duplicates: int = 0
    tenancies: int = 0
    broken_off: int = 0
    standstill_s: float = 0.0
    """The longest any partition stood still while there was a broker."""
    away_s: float = 0.0
    """The longest the broker was killed or stopped, its start included."""
    converged_s: float | None = None
    """From the last fault (or the waking of who was stopped last) until every partition flowed."""
    breaches: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not self.breaches and self.converged_s is not None and self.converged_s <= CONVERGE_LIMIT_S

    def __str__(self) -> str:
        faults = ", ".join(f"{count} x {kind}" for kind, count in sorted(self.faults.items()))
        back = "never" if self.converged_s is None else f"{self.converged_s:.1f} s"
        return "\n".join(
            [
                f"{sum(self.faults.values())} faults: {faults}",
                f"{self.events} events, {self.duplicates} handled again",
                f"{self.tenancies} tenancies of a partition, {self.broken_off} broken off by a fault",
                f"longest standstill of a partition: {self.standstill_s:.1f} s"
                f" (the broker's own absence, {self.away_s:.1f} s at most, not counted)",
                f"every partition flows again after the last fault: {back}",
                *(f"BREACH {line}" for line in self.breaches),
                f"{len(self.breaches)} breaches",
            ]
        )


class Chaos:
    """The whole set-up, and the hand that strikes."""

    def __init__(self, folder: Path, seed: int, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._random = Random(seed)
        self._say = say
        self._stack = ExitStack()
        self._broker = self._stack.enter_context(Broker())
        self._wake_s: list[tuple[float, int]] = []
        self._last_fault_s = now()
        self._away: list[tuple[float, float]] = []
        self._controllers: list[subprocess.Popen[bytes]] = []
        self._processes = Processes(module_command("-"), environment={}, folder=folder)
        self._stack.callback(self._end_processes)
        admin = AdminClient({"bootstrap.servers": self._broker.bootstrap, "log_level": 0})
        create_topics(admin, [NewTopic(TOPIC, num_partitions=PARTITIONS)], limit_s=20.0)
        for _ in range(CONTROLLERS):
            self._start_controller()
        self._flow = Flow(self._broker.bootstrap)
        self.outcome = Outcome()

    def close(self) -> None:
        self._stack.close()

    def run(self, faults: Sequence[str], *, quiet_limit_s: float) -> Outcome:
        self._wait(lambda: len(self._pids()) >= 2 and bool(list(self._folder.glob("*.jsonl"))), 60.0)
        self._sleep(2.0)
        for number, kind in enumerate(faults, start=1):
            self._say(f"{number}/{len(faults)} {kind}")
            self._strike(kind)
            self._sleep(self._random.uniform(0.5, 4.0))
        self._calm(quiet_limit_s)
        return self.outcome

    def _strike(self, kind: str) -> None:
        what, _, whom = kind.partition(" ")
        self.outcome.faults[kind] += 1
        self._last_fault_s = now()
        with (self._folder / "faults.txt").open("a") as timeline:
            timeline.write(f"{now()} {kind}\n")
        if whom == "broker":
            if what == "kill":
                self._broker.kill()
                self._sleep(self._random.uniform(0.1, 1.5))
                self._broker.start()
            else:
                os.kill(self._broker.pid, signal.SIGSTOP)
                self._sleep(self._random.uniform(0.3, 3.0))
                os.kill(self._broker.pid, signal.SIGCONT)
            self._away.append((self._last_fault_s, now()))
            self._last_fault_s = now()
            return
        if whom == "owner":
            self._kill_an_owner()
            return
        pids = self._pids() if whom == "consumer" else [c.pid for c in self._controllers]
        if not pids:
            return
        pid = self._random.choice(pids)
        with suppress(ProcessLookupError):
            if what == "kill":
                os.kill(pid, signal.SIGKILL)
            else:
                os.kill(pid, signal.SIGSTOP)
                # Shorter and longer than a lease, and than a leader's session.
                self._wake_s.append((now() + self._random.choice((0.5, 1.5, 4.0, 7.0)), pid))

    def _kill_an_owner(self) -> None:
        """By its own record it owned something to the last: any consumer may just have come, or be about to go."""
        end_s = now() + OWNED_LIMIT_S
        while now() < end_s:
            owners = self._owners()
            if owners:
                process, pid = self._random.choice(owners)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                self._last_fault_s = now()
                self._sleep(0.1)
                if any(t.process == process and not t.ended for t in self._tenancies()):
                    return
            self._sleep(0.1)
        raise AssertionError(f"nobody owned anything for {OWNED_LIMIT_S:g} s")

    def _owners(self) -> list[tuple[str, int]]:
        """Processes that run and own something now, with their numbers."""
        owning = {tenancy.process for tenancy in self._tenancies() if not tenancy.ended}
        notes = sorted(owning & self._processes.running())
        return [(note, pid) for note in notes if (pid := self._processes.pid(note)) is not None]

    def _sleep(self, seconds: float) -> None:
        """Time goes on: whoever is due wakes up, and dead controllers are started again."""
        end_s = now() + seconds
        while now() < end_s:
            for due_s, pid in list(self._wake_s):
                if now() >= due_s:
                    self._wake_s.remove((due_s, pid))
                    self._last_fault_s = now()
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGCONT)
            for controller in [c for c in self._controllers if c.poll() is not None]:
                self._controllers.remove(controller)
                self._start_controller()
            time.sleep(0.02)

    def _calm(self, limit_s: float) -> None:
        """No fault any more: how long until every partition flows, and what does everybody's record say?"""
        while self._wake_s:
            self._sleep(0.1)
        (self._folder / "settled").unlink(missing_ok=True)
        (self._folder / "settle").touch()
        marks = {number: self._flow.sent[number] for number in range(PARTITIONS)}
        self._wait(lambda: self._passed(marks) is not None, limit_s)
        passed_s = self._passed(marks)
        self.outcome.converged_s = None if passed_s is None else passed_s - self._last_fault_s
        self._wait((self._folder / "settled").exists, limit_s)
        self._flow.finish()
        ends = {Partition(TOPIC, number): self._flow.sent[number] for number in range(PARTITIONS)}
        self._wait(lambda: not any("never handled" in line for line in breaches(self._tenancies(), ends)), limit_s)
        tenancies = self._tenancies()
        self.outcome.events = sum(ends.values())
        self.outcome.duplicates = duplicates(tenancies)
        self.outcome.tenancies = len(tenancies)
        self.outcome.broken_off = sum(not tenancy.ended for tenancy in tenancies) - PARTITIONS
        self.outcome.standstill_s = longest_standstill_s(tenancies, self._away)
        self.outcome.away_s = max((end_s - begin_s for begin_s, end_s in self._away), default=0.0)
        self.outcome.breaches = [*breaches(tenancies, ends), *commits_gone_back(self._commits())]
        if not (self._folder / "settled").exists():
            self.outcome.breaches.append("the group did not come to rest")

    def _tenancies(self) -> list[Tenancy]:
        return read_tenancies(self._folder)

    def _passed(self, marks: dict[int, int]) -> float | None:
        """When the last partition handled an event that was sent after the calm had begun; None: not yet."""
        first: dict[int, float] = {}
        for tenancy in self._tenancies():
            number = tenancy.partition.number
            for event in tenancy.events:
                if event.offset >= marks[number]:
                    first[number] = min(event.time_s, first.get(number, event.time_s))
        return max(first.values()) if len(first) == PARTITIONS else None

    def _commits(self) -> list[tuple[Partition, int]]:
        """Every commit of the group, from Kafka's own log of them."""
        reader = Consumer(
            {
                "bootstrap.servers": self._broker.bootstrap,
                "group.id": "chaos-reader",
                "log_level": 0,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
            }
        )
        topic = "__consumer_offsets"
        numbers = list(reader.list_topics(topic, timeout=10).topics[topic].partitions)
        reader.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in numbers])
        found, open_ends = [], set(numbers)
        while open_ends:
            message = reader.poll(10.0)
            if message is None:
                raise AssertionError("the offsets topic cannot be read to its end")
            if message.error() is not None:
                open_ends.discard(message.partition())
            elif (commit := decode_commit(message.key(), message.value(), GROUP)) is not None:
                found.append(commit)
        reader.close()
        return found

    def _wait(self, condition: Callable[[], bool], limit_s: float) -> None:
        end_s = now() + limit_s
        while now() < end_s and not condition():
            self._sleep(0.2)

    def _pids(self) -> list[int]:
        notes = sorted(self._processes.running())
        return [pid for note in notes if (pid := self._processes.pid(note)) is not None]

    def _start_controller(self) -> None:
        with (self._folder / "controllers.log").open("ab") as log:
            self._controllers.append(
                subprocess.Popen(
                    [
                        *module_command("tests.live.chaos_controller"),
                        self._broker.bootstrap,
                        GROUP,
                        TOPIC,
                        str(PARTITIONS),
                        str(self._folder),
                    ],
                    env={**os.environ, **module_environment()},
                    stdout=log,
                    stderr=log,
                )
            )

    def _end_processes(self) -> None:
        for controller in self._controllers:
            controller.kill()
            controller.wait()
        while notes := self._processes.running():
            for note in notes:
                self._processes.kill(note)
            time.sleep(0.05)


def run_chaos(
    faults: Sequence[str],
    seed: int,
    folder: Path,
    *,
    limit_s: float = 60.0,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    chaos = Chaos(folder, seed, say)
    try:
        return chaos.run(faults, quiet_limit_s=limit_s)
    finally:
        chaos.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="sluice-chaos-") as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        faults = Random(arguments.seed).choices(FAULTS, k=arguments.faults)
        outcome = run_chaos(faults, arguments.seed, folder, say=lambda line: print(f"\r{line:40}", end="", flush=True))
    print()
    print(outcome)
    return 0 if outcome.good else 1


if __name__ == "__main__":
    sys.exit(main())
