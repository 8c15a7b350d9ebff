"""Managed consumers on a real broker: handover, failures, faults."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event as Flag
from threading import Thread

from confluent_kafka import Consumer, TopicPartition
from tests.live.chaos_checks import breaches, read_tenancies
from tests.live.managed_rig import RECORDING, Rig, eventually, rig

from sluice.broker import Broker
from sluice.execute.processes import Processes

Names = Callable[[str], str]
MakeTopic = Callable[..., str]


def committed(made: Rig) -> dict[int, int]:
    reader = Consumer({"bootstrap.servers": made.bootstrap, "group.id": made.group, "log_level": 0})
    try:
        places = reader.committed([TopicPartition(p.topic, p.number) for p in made.partitions], timeout=10)
        return {place.partition: place.offset for place in places}
    finally:
        reader.close()


def broken_promises(made: Rig) -> list[str]:
    """Every event is handled, by one owner at a time, and not again once an owner has let go of it in order."""
    sent = {p: made.sent // len(made.partitions) for p in made.partitions}
    return breaches(read_tenancies(made.folder), sent)


def test_partitions_change_hands_and_nothing_is_lost_or_done_twice(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    with rig(broker.bootstrap, unique("group"), make_topic(4), 4, tmp_path) as made:
        stop = Flag()

        def flow() -> None:
            while not stop.is_set():
                made.produce(4)
                time.sleep(0.01)

        flowing = Thread(target=flow)
        flowing.start()
        try:
            first = made.reach({"c0": [0, 1, 2, 3]})
            grown = made.reach({"c0": [0, 1], "c1": [2, 3]})
            swapped = made.reach({"c0": [2, 3], "c1": [0, 1]})
            shrunk = made.reach({"c1": [0, 1, 2, 3]})
        finally:
            stop.set()
            flowing.join()
        assert sum(receipt.moved_count for receipt in (*grown, *swapped, *shrunk)) == 2 + 4 + 2
        assert {name for receipt in (*first, *grown) for name in receipt.started} == {"c0", "c1"}
        assert any(receipt.startup_s is not None for receipt in grown)
        assert any(receipt.pause_s is not None and receipt.pause_s > 0 for receipt in swapped)
        eventually(lambda: any("c0" in receipt.stopped for receipt in shrunk) or not _runs(made, "c0"), 10.0)
        eventually(lambda: len(made.counts()) == made.sent, 30.0)
        assert broken_promises(made) == []
        # Applying the same again changes nothing.
        again = made.reach({"c1": [0, 1, 2, 3]})
        assert [(r.moved_count, r.started, r.stopped) for r in again] == [(0, (), ())]
        # Who leaves in order commits what it has done; the controller starts it again.
        leaver = made.pid("c1")
        os.kill(leaver, signal.SIGTERM)
        eventually(lambda: made.pid("c1") != leaver, 20.0)
        assert sum(committed(made).values()) == made.sent


def test_what_a_crashed_consumer_had_goes_on_elsewhere(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    with rig(broker.bootstrap, unique("group"), make_topic(2), 2, tmp_path) as made:
        made.reach({"c0": [0], "c1": [1]})
        made.produce(100)
        eventually(lambda: len(made.counts()) == 100, 30.0)
        dead = made.pid("c0")
        os.kill(dead, signal.SIGKILL)
        made.produce(100)
        # Nobody has to ask: what was wanted is brought about again.
        eventually(lambda: made.pid("c0") not in (0, dead), 20.0)
        receipts = made.reach({"c0": [0], "c1": [1]})
        assert any("c0 ended" in (receipt.problem or "") for receipt in receipts)
        eventually(lambda: len(made.counts()) == 200, 30.0)
        # c1 was not concerned: it goes on without a stop or a new start.
        untouched = [line.split()[0] for line in made.said() if line.split()[1] == str(made.partitions[1])]
        assert untouched == ["begin"]


def test_a_consumer_that_was_stopped_too_long_wakes_up_powerless(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    with rig(broker.bootstrap, unique("group"), make_topic(1), 1, tmp_path, WORK_S="0.002") as made:
        made.reach({"c0": [0], "c1": []})
        made.produce(2000)
        eventually(lambda: len(made.handled()) > 50, 30.0)
        frozen = made.pid("c0")
        os.kill(frozen, signal.SIGSTOP)
        try:
            made.reach({"c1": [0]})
            eventually(lambda: any(event.process.startswith("c1") for event in made.handled()), 30.0)
            before = committed(made)[0]
            taken_s = min(event.time_s for event in made.handled() if event.process.startswith("c1"))
        finally:
            os.kill(frozen, signal.SIGCONT)
        eventually(lambda: len(made.counts()) == 2000, 60.0)
        late = [e for e in made.handled() if e.process.startswith("c0") and e.time_s > taken_s]
        assert len(late) <= 1, "only the event in hand may be finished"
        assert committed(made)[0] >= before
        eventually(lambda: not _runs(made, "c0"), 20.0)


def test_consumers_go_on_without_a_controller_and_obey_the_next_one(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    with rig(broker.bootstrap, unique("group"), make_topic(2), 2, tmp_path) as made:
        made.reach({"c0": [0], "c1": [1]})
        made.executor.close()
        time.sleep(3.0)  # longer than a lease
        made.produce(100)
        eventually(lambda: len(made.counts()) == 100, 30.0)
        made.executor = made.new_executor()
        made.reach({"c0": [1], "c1": [0]})
        made.produce(100)
        eventually(lambda: len(made.counts()) == 200, 30.0)
        assert broken_promises(made) == []


def test_a_consumer_from_elsewhere_that_is_not_needed_leaves_in_order(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    with rig(broker.bootstrap, unique("group"), make_topic(2), 2, tmp_path) as made:
        made.reach({"c0": [0, 1]})
        # As on another machine: this controller cannot signal it.
        elsewhere = Processes(RECORDING, environment=made.environment, folder=tmp_path / "elsewhere")
        elsewhere.start("hand", SLUICE_INSTANCE="by-hand")
        try:
            eventually(lambda: not elsewhere.running(), 30.0)
        finally:
            elsewhere.kill("hand")
        assert elsewhere.last_words("hand") is None, "no complaint"
        eventually(lambda: made.executor.settled, 10.0)


def test_poison_goes_to_the_dead_letter_topic_and_its_neighbours_are_handled(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic = make_topic(1)
    letters = f"{topic}.dead-letter"  # nobody makes it beforehand
    with rig(broker.bootstrap, unique("group"), topic, 1, tmp_path, ON_ERROR="dead-letter") as made:
        for value in (b"1", b"poison", b"2"):
            made.send(value, 0)
        made.reach({"c0": [0]})
        eventually(lambda: {event.value for event in made.handled()} == {"1", "poison", "2"}, 30.0)
        assert [event.value for event in made.handled()] == ["1", "poison", "poison", "2"]
        eventually(lambda: committed(made)[0] == 3, 10.0)
        reader = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": unique("reader"), "log_level": 0})
        reader.assign([TopicPartition(letters, 0, 0)])
        letter = reader.poll(20.0)
        reader.close()
        assert letter is not None
        assert letter.value() == b"poison"
        headers = dict(letter.headers() or ())
        assert headers["sluice.offset"] == b"1"
        assert headers["sluice.error"] == b"ValueError: poison"


def test_a_handler_that_fails_for_good_stops_its_consumer_and_commits_what_is_done(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    with rig(broker.bootstrap, unique("group"), make_topic(1), 1, tmp_path, ON_ERROR="stop") as made:
        made.reach({"c0": [0]})
        first = made.pid("c0")
        made.send(b"1", 0)
        made.send(b"poison", 0)
        eventually(lambda: not Path(f"/proc/{first}").exists() or first != made.pid("c0"), 20.0)
        eventually(lambda: committed(made)[0] == 1, 10.0)
        said: list[str] = []
        eventually(lambda: _said(made, said, "c0 left: the handler failed 2 times on"), 20.0)
        assert "ValueError: poison" in said[-1]


def test_a_consumer_that_cannot_start_says_why(
    broker: Broker, unique: Names, make_topic: MakeTopic, tmp_path: Path
) -> None:
    command = (sys.executable, "-c", "raise SystemExit('consumer.py is not there')")
    with rig(broker.bootstrap, unique("group"), make_topic(1), 1, tmp_path, command=command) as made:
        wanted = "c0 ended while it was starting: consumer.py is not there"
        eventually(lambda: _said(made, [], wanted), 20.0)


def _said(made: Rig, said: list[str], wanted: str) -> bool:
    """Another tick, and what was a problem since the one before."""
    said.append(made.executor.apply(made.plan({"c0": [0]})).problem or "")
    return wanted in said[-1]


def _runs(made: Rig, consumer: str) -> bool:
    return any(note.rpartition(".")[0] == consumer for note in made.processes.running())
