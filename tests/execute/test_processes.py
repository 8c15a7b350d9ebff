"""Consumers as processes: found again by the next controller, and nobody else is ever signalled."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from sluice.errors import InputError
from sluice.execute.local import KEPT_LOGS, LocalConsumers
from sluice.execute.processes import Processes

CONSUMER = """
import os, signal, sys, time
print(os.environ["SLUICE_CONSUMER"], os.environ["SLUICE_GROUP"], flush=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit("left in order"))
while True:
    time.sleep(0.05)
"""


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[], Processes]]:
    made: list[Processes] = []

    def create() -> Processes:
        command = [sys.executable, "-c", CONSUMER]
        made.append(Processes(command, environment={"SLUICE_GROUP": "g"}, folder=tmp_path / "consumers"))
        return made[-1]

    yield create
    for name in create().running():
        made[-1].kill(name)


def until(wanted: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_started_once_told_its_name_and_stopped_in_order(make: Callable[[], Processes]) -> None:
    fleet = make()
    fleet.start("c0")
    pid = fleet.pid("c0")
    fleet.start("c0")
    assert fleet.pid("c0") == pid
    assert fleet.running() == {"c0"}
    until(lambda: fleet.last_words("c0") == "c0 g")
    fleet.stop("c0")
    until(lambda: not fleet.running())
    assert fleet.last_words("c0") == "left in order"
    fleet.stop("c0")
    fleet.start("c0")
    assert fleet.pid("c0") != pid


def test_another_controller_finds_and_stops_them(make: Callable[[], Processes]) -> None:
    make().start("c0")
    successor = make()
    assert successor.running() == {"c0"}
    until(lambda: successor.last_words("c0") == "c0 g")
    successor.stop("c0")
    until(lambda: not successor.running())


LEAVER = """
import sys
from pathlib import Path
from sluice.execute.processes import Processes
fleet = Processes(sys.argv[2:], environment={"SLUICE_GROUP": "g"}, folder=Path(sys.argv[1]))
fleet.start("c0")
"""


def test_they_outlive_the_controller(make: Callable[[], Processes], tmp_path: Path) -> None:
    arguments = [str(tmp_path / "consumers"), sys.executable, "-c", CONSUMER]
    subprocess.run([sys.executable, "-c", LEAVER, *arguments], check=True, timeout=60)
    time.sleep(0.2)
    assert make().running() == {"c0"}


def test_of_a_consumer_that_ends_again_and_again_the_last_outputs_are_kept(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", 'echo "no $SLUICE_INSTANCE"; echo']
    local = LocalConsumers(Processes(command, environment={}, folder=tmp_path))
    instances = [local.new_instance() for _ in range(KEPT_LOGS + 3)]
    for instance in instances:
        local.start("c0", instance)
        until(partial(_ended, local, instance))
        assert local.last_words(instance) == f"no {instance}"
    assert local.last_words(instances[0]) is None
    assert len(list(tmp_path.glob("*.log"))) == KEPT_LOGS + 1


def _ended(local: LocalConsumers, instance: str) -> bool:
    return instance in local.ended([instance])


def test_a_process_that_only_has_the_same_number_is_left_alone(make: Callable[[], Processes], tmp_path: Path) -> None:
    fleet = make()
    (tmp_path / "consumers" / "c7.json").write_text(json.dumps({"pid": os.getpid(), "began": "1"}))
    assert fleet.running() == frozenset()
    fleet.kill("c7")  # were it ours, this would be the end of the test
    (tmp_path / "consumers" / "c8.json").write_text("half a no")
    assert fleet.running() == frozenset()


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no command"):
        Processes([], environment={}, folder=tmp_path)
    with pytest.raises(InputError, match="'no-such-program' is not there"):
        Processes(["no-such-program"], environment={}, folder=tmp_path)
    with pytest.raises(InputError, match="cannot name a file"):
        Processes([sys.executable], environment={}, folder=tmp_path).start("../c0")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be used"):
        Processes([sys.executable], environment={}, folder=tmp_path / "file" / "x")
