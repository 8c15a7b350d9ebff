"""What a live run leaves on the broker and on disk, and how it is cleared away."""

import shutil
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.cimpl import NewTopic

from sluice.assembly.acting import group_folder
from sluice.errors import UnavailableError
from sluice.execute.board import PlanBoard
from sluice.execute.processes import Processes
from sluice.monitor.kafka.cluster import connect, create_topics
from sluice.settings.live import WatchedSettings

ANSWER_LIMIT_S = 20.0
LEAVE_LIMIT_S = 10.0


@contextmanager
def own_topics(bootstrap: str, partitions: Mapping[str, int], group: str) -> Iterator[None]:
    """Topics under names of their own; at the end they go, and whatever Sluice made for the group.

    The broker stamps the events: what a producer or its way to the broker took is nobody's latency here.
    """
    admin = connect(bootstrap, {})
    stamped = {"message.timestamp.type": "LogAppendTime"}
    new = [NewTopic(name, num_partitions=count, config=stamped) for name, count in partitions.items()]
    try:
        create_topics(admin, new, limit_s=ANSWER_LIMIT_S)
    except KafkaException as error:
        raise UnavailableError(f"the topics of the run cannot be made: {error.args[0].str()}") from None
    try:
        yield
    finally:
        # A broker that has gone takes them with it, or keeps them: nothing can be done about it here.
        with suppress(KafkaException):
            ours = [name for name in admin.list_topics(timeout=ANSWER_LIMIT_S).topics if f"__sluice.{group}." in name]
            _wait(admin.delete_topics([*partitions, *ours]))
            _wait(admin.delete_consumer_groups([group, f"__sluice.{group}.controllers"]))


@contextmanager
def own_consumers(bootstrap: str, group: WatchedSettings) -> Iterator[None]:
    """Whoever consumes for the group at the end is told to leave, then made to; their notes go too."""
    folder = group_folder(bootstrap, group)
    processes = Processes(group.command, environment={}, folder=folder)
    try:
        yield
    finally:
        stopped(processes)
        shutil.rmtree(folder, ignore_errors=True)
        if (plan := PlanBoard(folder=folder.parent).path(group.name)) is not None:
            plan.unlink(missing_ok=True)
        with suppress(OSError):  # another group of the cluster has something there
            folder.parent.rmdir()


def stopped(processes: Processes) -> None:
    """All are told to leave, then made to; returns when they are gone."""
    for note in processes.running():
        processes.stop(note)
    deadline_s = time.monotonic() + LEAVE_LIMIT_S
    while notes := processes.running():
        if time.monotonic() > deadline_s:
            for note in notes:
                processes.kill(note)
        time.sleep(0.05)


def _wait(futures: "Mapping[str, Future[Any]]") -> None:
    for future in futures.values():
        with suppress(KafkaException):
            future.result(ANSWER_LIMIT_S)
