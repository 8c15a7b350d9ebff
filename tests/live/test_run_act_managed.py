"""`sluice run --act` with managed consumers: staffed by the plan, held without reports, left running, taken over."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tests.live.processes_end import module_environment
from tests.live.run_rig import Kept, Load, drive, settled_with

from sluice.assembly.acting import consumers_folder
from sluice.assembly.live import Live, live
from sluice.broker import Broker
from sluice.execute.processes import Processes
from sluice.model import Action, Decision, Partition
from sluice.model.telemetry import telemetry_topic
from sluice.monitor.kafka.cluster import create_topics
from sluice.pipeline.latency.history import TO_THE_END, Segment, history_of
from sluice.settings.live import read_live

CONSUMER = Path(__file__).with_name("recording_consumer.py")
CONFIG = """
[kafka]
limit_s = 1.0
session_s = 2.0

[objective]
latency_s = 0.5

[control]
policy = "tail-binpack"
interval_s = 0.25

[group]
name = "{group}"
topics = ["{topic}"]
rebalance_s = 0.05
silence_s = 2.0
command = ["{python}", "{consumer}"]
environment = {{ RECORD_FOLDER = "{folder}", WORK_S = "0.005", {environment} }}

[guards]
cooldown_s = 1.0
max_consumers = 3
"""


@contextmanager
def acting(broker: Broker, topic: str, group: str, folder: Path, kept: Kept) -> Iterator[Live]:
    path = folder / "run.toml"
    environment = ", ".join(f'{name} = "{value}"' for name, value in module_environment().items())
    names = {"topic": topic, "group": group, "folder": folder, "environment": environment}
    path.write_text(CONFIG.format(python=sys.executable, consumer=CONSUMER, **names))
    with live(
        read_live(path), bootstrap=broker.bootstrap, act=True, policy="tail-binpack", shadows=(), sink=kept
    ) as running:
        yield running


def committed(broker: Broker, group: str, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "log_level": 0})
    try:
        places = consumer.committed([TopicPartition(topic, n) for n in range(4)], timeout=10)
        return sum(max(place.offset, 0) for place in places)
    finally:
        consumer.close()


def _all_have_begun(decision: Decision) -> bool:
    begun = decision.snapshot.owned_from_events
    return begun is not None and bool(np.isfinite(begun).all())


def _the_broker_answers(decision: Decision) -> bool:
    return bool(np.isfinite(decision.snapshot.end_events).all())


def _name(segment: Segment) -> str:
    """Without the number of one that had gone and came back: how often a busy machine lets that happen is its own."""
    return segment.consumer.partition("#")[0]


def _history_is_whole(kept: Kept, partitions: tuple[Partition, ...]) -> None:
    """The journal tells who read what: every partition from its first event on, one owner after the other."""
    history = history_of(kept.decisions)
    for partition in partitions:
        mine = sorted((s for s in history if s.partition == partition.number), key=lambda s: s.from_event)
        assert mine[0].from_event == 0
        assert mine[-1].to_event == TO_THE_END
        assert all(before.to_event == after.from_event for before, after in pairwise(mine))
        assert [s.readable_s for s in mine] == sorted(s.readable_s for s in mine)
    # Nobody who never owned anything. One that held a partition for less than a report's interval may be missing.
    assignment = kept.decisions[-1].snapshot.assignment
    seen = {name for d in kept.decisions for name, held in d.snapshot.assignment.owned().items() if held}
    assert {_name(s) for s in history} <= seen
    reading = {s.partition: _name(s) for s in history if s.to_event == TO_THE_END}
    owners = dict(zip(assignment.partitions, assignment.owner.tolist(), strict=True))
    assert reading == {p.number: assignment.consumers[owner] for p, owner in owners.items()}
    assert len(set(reading.values())) >= 2


def test_staffed_by_the_plan_held_without_reports_left_running_and_taken_over(
    broker: Broker, make_topic: Callable[..., str], unique: Callable[[str], str], tmp_path: Path, own_cache: Path
) -> None:
    assert own_cache.is_dir()
    topic, group, kept = make_topic(4), unique("crew"), Kept()
    load = Load(broker, topic, 4)
    with acting(broker, topic, group, tmp_path, kept) as running:
        # It has said where it began: the journal knows every partition from its first event on.
        one = drive(running, kept, load, 20, lambda d: settled_with(1)(d) and _all_have_begun(d))
        assert (one.snapshot.assignment.owner == 0).all()
        three = drive(running, kept, load, 400, settled_with(3))
        assert (three.snapshot.assignment.owner >= 0).all()
        measured = drive(running, kept, load, 400, lambda d: d.snapshot.reports is not None and settled_with(3)(d))
        assert measured.workload.service_eps is not None
        # 5 ms an event, and what the machine adds: sleepers are woken late, a turn has to be waited for.
        assert 50 < measured.workload.service_eps < 210
        # What the changes took flows back into the plans: no setting gives the start; the pause replaces its setting.
        assert measured.workload.startup_s is not None
        assert measured.workload.rebalance_s not in (None, 0.05)

        drive(running, kept, load, 400, lambda d: settled_with(3)(d) and _all_have_begun(d))
        _history_is_whole(kept, three.snapshot.partitions)

        crew = Processes([sys.executable], environment={}, folder=consumers_folder(broker.bootstrap) / group)
        assert len(crew.running()) == 3
        # The reports are lost and so is the load: nothing is scaled down on half the news.
        reports = telemetry_topic(group)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        admin.delete_topics([reports])[reports].result(10)
        drive(running, kept, load, 0, lambda d: not d.snapshot.settled)
        first_lost = len(kept.decisions)
        for _ in range(20):
            drive(running, kept, load, 0, _the_broker_answers)
        assert {d.plan.action for d in kept.decisions[first_lost:]} == {Action.HOLD}
        assert len(crew.running()) == 3
        create_topics(admin, [NewTopic(reports, 1)], limit_s=20.0)
        drive(running, kept, load, 0, settled_with(1))

        drive(running, kept, load, 400, settled_with(3))
        running.finish()
        drive(running, kept, load, 0, lambda _: running.idle())
    before = {name: crew.pid(name) for name in crew.running()}
    assert len(before) == 3
    load.send(400)
    load.flush()
    # Nobody leads, and the work goes on.
    with acting(broker, topic, group, tmp_path, kept) as running:
        drive(running, kept, load, 400, lambda d: d.snapshot.settled and len(d.snapshot.assignment.consumers) == 3)
        assert {name: crew.pid(name) for name in before} == before, "taken over, not started anew"
        drive(running, kept, load, 0, lambda _: committed(broker, group, topic) == load.sent)
