"""`sluice run --act` with members of a Kafka group: it staffs the group, survives, and never acts on lost data."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tests.live.run_rig import Kept, Load, create_topic, drive, settled_with

from sluice.assembly.acting import consumers_folder
from sluice.assembly.live import Live, live
from sluice.broker import Broker
from sluice.control.journal import read_journal
from sluice.control.state import State
from sluice.execute.processes import Processes
from sluice.model import Action, Decision
from sluice.settings.live import read_live

MEMBER = Path(__file__).with_name("group_member.py")
CONFIG = """
[kafka]
limit_s = 1.0
session_s = 2.0

[objective]
latency_s = 0.5

[control]
policy = "linear"
interval_s = 0.25

[group]
name = "{group}"
topics = ["{topic}"]
mode = "group"
service_eps = 100.0
rebalance_s = 0.05
command = ["{python}", "{member}"]
environment = {{ SERVICE_S = "0.01", HOLD = "{folder}/hold", HELD = "-1", NOTES = "{folder}/notes" }}

[guards]
cooldown_s = 1.0
max_consumers = 3
"""


@contextmanager
def acting(broker: Broker, topic: str, group: str, folder: Path, kept: Kept) -> Iterator[Live]:
    path = write_config(topic, group, folder)
    with live(read_live(path), bootstrap=broker.bootstrap, act=True, policy="linear", shadows=(), sink=kept) as running:
        yield running


def write_config(topic: str, group: str, folder: Path) -> Path:
    path = folder / "run.toml"
    path.write_text(CONFIG.format(topic=topic, group=group, folder=folder, python=sys.executable, member=MEMBER))
    return path


def fleet_of(broker: Broker, group: str) -> Processes:
    return Processes([sys.executable], environment={}, folder=consumers_folder(broker.bootstrap) / group)


def test_it_staffs_the_group_holds_without_a_broker_and_scales_down_with_one(
    mortal: Broker, unique: Callable[[str], str], tmp_path: Path, own_cache: Path
) -> None:
    assert own_cache.is_dir()
    topic, group = unique("topic"), unique("crew")
    create_topic(mortal, topic, 4)
    load, kept = Load(mortal, topic, 4), Kept()
    with acting(mortal, topic, group, tmp_path, kept) as running:
        drive(running, kept, load, 0, settled_with(1))
        three = drive(running, kept, load, 250, settled_with(3))
        assert (three.snapshot.assignment.owner >= 0).all()
        crew = fleet_of(mortal, group)
        assert crew.running() == {"c0", "c1", "c2"}

        mortal.kill()
        lost_s = time.monotonic()
        before = len(kept.decisions)
        while time.monotonic() - lost_s < 5:
            running.loop.tick()
            time.sleep(0.1)
        lost = kept.decisions[before:]
        assert any(np.isnan(d.snapshot.end_events).all() for d in lost)
        assert all(d.plan.action is Action.HOLD for d in lost[2:])
        assert all(d.receipt.stopped == () for d in lost)
        assert running.helm is not None
        assert running.helm.state(group) is State.SYNCHRONIZE
        assert crew.running() == {"c0", "c1", "c2"}

        mortal.start()
        drive(running, kept, load, 5, settled_with(1))
        deadline = time.monotonic() + 20
        while crew.running() != set(kept.decisions[-1].snapshot.assignment.consumers):
            assert time.monotonic() < deadline
            running.loop.tick()
            time.sleep(0.1)


def test_sigterm_leaves_the_group_running_and_the_standby_goes_on_with_it(
    broker: Broker, make_topic: Callable[..., str], unique: Callable[[str], str], tmp_path: Path, own_cache: Path
) -> None:
    topic, group = make_topic(4), unique("crew")
    config = write_config(topic, group, tmp_path)
    load = Load(broker, topic, 4)
    crew = fleet_of(broker, group)
    environment = {**os.environ, "SLUICE_CACHE": str(own_cache)}

    def controller(name: str) -> tuple[subprocess.Popen[str], Path]:
        journal = tmp_path / f"{name}.jsonl"
        command = [sys.executable, "-m", "sluice", "run", str(config), "--act", "--journal", str(journal)]
        command += ["--bootstrap", broker.bootstrap]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return process, journal

    def until(process: subprocess.Popen[str], journal: Path, wanted: Callable[[Decision], bool]) -> None:
        deadline = time.monotonic() + 60
        while True:
            seen = list(read_journal(journal)) if journal.exists() else []
            if seen and wanted(seen[-1]):
                return
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, seen[-1:] or "no decision"
            time.sleep(0.2)

    one, first = controller("first")
    two, second = one, first
    with load.flowing(300.0):
        try:
            until(one, first, settled_with(3))
            two, second = controller("second")
            until(two, second, lambda d: d.receipt.problem == "this controller does not lead")
            pids = {name: crew.pid(name) for name in ("c0", "c1", "c2")}
            one.send_signal(signal.SIGTERM)
            _, errors = one.communicate(timeout=40)
            assert one.returncode in (0, 1), errors
            until(two, second, settled_with(3))
            assert None not in pids.values(), "the consumers go on"
            assert {name: crew.pid(name) for name in pids} == pids, "taken over, not started anew"
            load.rate_eps = 10.0
            until(two, second, settled_with(1))
        finally:
            for process in {one, two}:
                process.terminate()
                process.communicate(timeout=40)
