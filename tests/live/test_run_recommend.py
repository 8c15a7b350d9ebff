"""`sluice run` without `--act`: it watches a real group, says what it would do, and touches nothing."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.assembly.live import live
from sluice.broker import Broker
from sluice.cli.main import main
from sluice.control.journal import read_journal
from sluice.model import Action, Decision
from sluice.monitor.kafka.cluster import create_topics
from sluice.settings.live import LiveSettings, read_live

CONFIG = """
[kafka]
bootstrap = "{bootstrap}"
limit_s = 1.0

[objective]
latency_s = 0.5

[control]
policy = "tail-binpack"
shadows = ["linear"]
interval_s = 0.25

[group]
name = "{group}"
topics = ["{topic}"]
mode = "group"
service_eps = 200.0
rebalance_s = 0.05

[guards]
cooldown_s = 0.0
"""


class Slow:
    """A foreign consumer that falls behind, and a producer that sees to it."""

    def __init__(self, broker: Broker, topic: str, group: str) -> None:
        self._over = Event()
        self._bootstrap, self._topic, self._group = broker.bootstrap, topic, group
        self._threads = [Thread(target=self._write), Thread(target=self._read)]

    def __enter__(self) -> "Slow":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _write(self) -> None:
        producer = Producer({"bootstrap.servers": self._bootstrap, "log_level": 0})
        number = 0
        while not self._over.wait(0.05):
            for _ in range(20):
                producer.produce(self._topic, b"x", partition=number % 4)
                number += 1
            producer.poll(0)
        producer.flush(5)

    def _read(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": self._group,
                "client.id": "c0",
                "auto.offset.reset": "earliest",
                "auto.commit.interval.ms": 200,
                "log_level": 0,
            }
        )
        consumer.subscribe([self._topic])
        while not self._over.is_set():
            if consumer.poll(0.1) is not None:
                time.sleep(0.01)
        consumer.close()


@pytest.fixture
def config(
    broker: Broker, make_topic: Callable[..., str], unique: Callable[[str], str], tmp_path: Path
) -> Iterator[Path]:
    topic, group = make_topic(4), unique("watched")
    path = tmp_path / "run.toml"
    path.write_text(CONFIG.format(bootstrap=broker.bootstrap, topic=topic, group=group))
    with Slow(broker, topic, group):
        _until_known(broker, group)
        yield path


def _until_known(broker: Broker, group: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    deadline = time.monotonic() + 20
    while group not in [each.group_id for each in admin.list_consumer_groups().result(10).valid or ()]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_it_recommends_journals_and_changes_nothing_until_it_is_told_to_end(config: Path, tmp_path: Path) -> None:
    journal, summary = tmp_path / "out" / "journal.jsonl", tmp_path / "summary.json"
    command = [sys.executable, "-m", "sluice", "run", str(config), "--journal", str(journal), "--json", str(summary)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not any(d.plan.action is Action.UP for d in _decisions(journal)):
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline, "a group that falls behind needs more consumers"
            time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        told_s = time.monotonic()
        out, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert time.monotonic() - told_s < 10
    assert "would up to" in out
    decisions = _decisions(journal)
    assert all(d.receipt.action is Action.HOLD for d in decisions)
    assert all(d.snapshot.assignment.consumers == ("c0",) for d in decisions if d.snapshot.settled)
    assert {d.shadows[0].policy for d in decisions} == {"linear"}
    (written,) = json.loads(summary.read_text())
    assert written["ticks"] == len(decisions)
    assert written["sla_ratio"] is None, "foreign consumers report nothing"


def _decisions(journal: Path) -> list[Decision]:
    return list(read_journal(journal)) if journal.exists() else []


class Kept:
    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> None:
        self.decisions.append(decision)


def test_without_a_broker_it_holds_and_goes_on_afterwards(
    mortal: Broker, unique: Callable[[str], str], tmp_path: Path
) -> None:
    topic, group = unique("topic"), unique("watched")
    admin = AdminClient({"bootstrap.servers": mortal.bootstrap, "log_level": 0})
    create_topics(admin, [NewTopic(topic, 4)], limit_s=20.0)
    path = tmp_path / "run.toml"
    path.write_text(CONFIG.format(bootstrap=mortal.bootstrap, topic=topic, group=group))
    settings: LiveSettings = read_live(path)
    kept = Kept()
    with Slow(mortal, topic, group):
        _until_known(mortal, group)
        with live(
            settings, bootstrap=mortal.bootstrap, act=False, policy="tail-binpack", shadows=(), sink=kept
        ) as running:
            _tick_until(running.loop.tick, kept, lambda d: d.plan.action is Action.UP)
            mortal.kill()
            for _ in range(3):
                running.loop.tick()
                lost = kept.decisions[-1]
                assert np.isnan(lost.snapshot.end_events).all()
                assert lost.plan.action is Action.HOLD
                assert lost.plan.target.count == 1
            mortal.start()
            _tick_until(running.loop.tick, kept, lambda d: d.plan.action is Action.UP)


def _tick_until(tick: Callable[[], object], kept: Kept, wanted: Callable[[Decision], bool]) -> None:
    deadline = time.monotonic() + 40
    while True:
        tick()
        if wanted(kept.decisions[-1]):
            return
        assert time.monotonic() < deadline, kept.decisions[-1]
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("options", "change", "said"),
    [
        (["--policy", "tail-binpak"], ("", ""), "policy 'tail-binpak' is unknown; did you mean 'tail-binpack'"),
        (["--shadow", "lineal"], ("", ""), "policy 'lineal' is unknown; did you mean 'linear'"),
        (["--bootstrap", "127.0.0.1:9"], ("", ""), "no Kafka broker answers at 127.0.0.1:9"),
        (["--json", "/dev/null/summary.json"], ("", ""), "/dev/null/summary.json cannot be written"),
        ([], ('topics = ["', 'topics = ["nix-'), "does not exist"),
        ([], ('name = "', 'name = "nix-'), "group 'nix-"),
        ([], ("limit_s", "limits_s"), "unknown key kafka.limits_s; did you mean 'limit_s'"),
        ([], ("cooldown_s", "cool_down"), "has no argument 'cool_down'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    broker: Broker,
    make_topic: Callable[..., str],
    unique: Callable[[str], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    change: tuple[str, str],
    said: str,
) -> None:
    text = CONFIG.format(bootstrap=broker.bootstrap, topic=make_topic(1), group=unique("group"))
    path = tmp_path / "run.toml"
    path.write_text(text.replace(*change) if change[0] else text)
    begun = time.monotonic()
    assert main(["run", str(path), *options]) == 2
    assert time.monotonic() - begun < 10
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1
