"""A real broker: it starts, answers, survives a crash, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from sluice.broker import Broker
from sluice.broker.server import answers
from sluice.cli.main import main
from sluice.errors import InputError, UnavailableError


def _gone(pid: int, limit_s: float = 20.0) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_what_was_acknowledged_survives_a_crash_at_the_same_address_and_nothing_is_left_at_the_end() -> None:
    with Broker() as broker:
        address, data = broker.bootstrap, broker.data
        admin = AdminClient({"bootstrap.servers": address})
        admin.create_topics([NewTopic("kept", 1)])["kept"].result(10)
        producer = Producer({"bootstrap.servers": address, "acks": "all"})
        for number in range(100):
            producer.produce("kept", str(number).encode())
        assert producer.flush(10) == 0
        broker.kill()
        assert not answers(address)
        broker.start()
        assert broker.bootstrap == address
        consumer = Consumer({"bootstrap.servers": address, "group.id": "reader"})
        assert consumer.get_watermark_offsets(TopicPartition("kept", 0), timeout=10) == (0, 100)
        consumer.close()
        pid = broker.pid
    assert _gone(pid)
    assert not data.exists()
    assert not answers(address)


CARELESS = """
import os, signal
from sluice.broker import Broker
broker = Broker()
broker.start()
print(broker.pid, broker.data, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_broker_ends_with_the_process_that_started_it() -> None:
    done = subprocess.run([sys.executable, "-c", CARELESS], capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    pid, data = done.stdout.split()
    assert _gone(int(pid))
    deadline = time.monotonic() + 5
    while Path(data).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(data).exists()


def test_topics_are_not_made_by_mistake(broker: Broker, unique: Callable[[str], str]) -> None:
    listed = AdminClient({"bootstrap.servers": broker.bootstrap}).list_topics(unique("misspelt"), timeout=10)
    assert all(topic.error is not None for topic in listed.topics.values())


def test_up_status_down_are_idempotent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], broker: Broker
) -> None:
    # The jars come from the user's cache, the note and the data from a folder of this test.
    from sluice.broker.cache import cache_folder

    mine = tmp_path / "cache"
    mine.mkdir()
    for jars in cache_folder().glob("kafka-*"):
        (mine / jars.name).symlink_to(jars)
    monkeypatch.setenv("SLUICE_CACHE", str(mine))
    assert main(["broker", "status"]) == 1
    assert main(["broker", "down"]) == 0
    assert "no broker runs" in capsys.readouterr().out
    assert main(["broker", "up", "--json", str(tmp_path / "up.json")]) == 0
    first = json.loads((tmp_path / "up.json").read_text())
    try:
        assert first["started"]
        assert first["bootstrap"] != broker.bootstrap
        assert answers(first["bootstrap"])
        assert main(["broker", "up", "--json", str(tmp_path / "again.json")]) == 0
        assert json.loads((tmp_path / "again.json").read_text()) == {**first, "started": False}
        assert main(["broker", "up", "--port", "1"]) == 2
        assert "sluice broker down" in capsys.readouterr().err
        assert main(["broker", "status"]) == 0
    finally:
        assert main(["broker", "down"]) == 0
    assert not Path(first["data"]).exists()
    assert not answers(first["bootstrap"])
    assert main(["broker", "status"]) == 1


def test_bad_input_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broker: Broker) -> None:
    taken = int(broker.bootstrap.rpartition(":")[2])
    with pytest.raises(InputError, match=f"port {taken} is taken"):
        Broker(port=taken).start()
    (tmp_path / "letter").write_text("not Kafka's")
    with pytest.raises(InputError, match="holds something else"):
        Broker(data=tmp_path).start()
    with pytest.raises(InputError, match="cannot be used"):
        Broker(data=tmp_path / "letter" / "below").start()
    with pytest.raises(UnavailableError, match="not been started"):
        _ = Broker().bootstrap
    monkeypatch.setenv("KAFKA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="holds no Kafka; correct it or unset it"):
        Broker().start()


def test_kafka_home_is_used_when_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # An installation as Kafka's own archive lays it out, put together from the jars at hand.
    from sluice.broker.install import kafka_class_path

    libs = tmp_path / "libs"
    libs.mkdir()
    for jar in kafka_class_path().split(os.pathsep):
        (libs / Path(jar).name).symlink_to(jar)
    monkeypatch.setenv("KAFKA_HOME", str(tmp_path))
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "empty"))
    with Broker() as mine:
        assert answers(mine.bootstrap)
