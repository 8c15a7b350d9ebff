"""The only place that touches what kafka-python keeps to itself (written for 3.0).

Java has `enforceRebalance`, and returns records while a cooperative member joins; kafka-python has neither yet. And it
counts on one poll to see a join through. What comes through between two polls it throws away, and joins again: a member
that works while it joins would join for ever. A join that new metadata has caused it even forgets, once the leader has
made its assignment: the member would neither commit nor send heartbeats any more. Here a join is kept until a poll has
taken note of it.
"""

import time
from collections.abc import Callable
from typing import Any

from kafka.errors import KafkaError

TEXTS_LIMIT_S = 0.2


class _KeptJoin:
    """Stands in for the task of a join, and is never `done` before somebody has taken its result."""

    is_done = False

    def __init__(self, task: Any) -> None:
        self.task = task

    def add_callback(self, call: Callable[[Any], None]) -> None:
        self.task.add_callback(call)

    def add_errback(self, call: Callable[[Any], None]) -> None:
        self.task.add_errback(call)


def request_rejoin(consumer: Any) -> None:
    """Join anew with the next poll: members stay the same, their partitions may not."""
    consumer._coordinator.request_rejoin()


def join_waits_for_us(consumer: Any) -> bool:
    """A join is to be begun, or is through and to be taken note of. Cheap: asked before every event."""
    coordinator = consumer._coordinator
    kept = coordinator._join_task
    return bool(coordinator.rejoin_needed) and (kept is None or bool(kept.task.is_done))


def answered_heartbeat_s(consumer: Any) -> float | None:
    """When the last heartbeat was sent, if it was answered; None while it is on its way.

    Not when the answer came: a process that was stopped finds it in its mailbox, long after it was given.
    """
    beat = consumer._coordinator.heartbeat
    sent_s, received_s = beat.last_send, beat.last_receive
    return float(sent_s) if received_s >= sent_s else None


def drop_all_when_evicted(consumer: Any) -> None:
    """Let a member that was evicted in the middle of a join give up what it owned.

    kafka-python looks at the beginning of a join only. A member evicted later would keep its partitions through the
    next join, and commit its old positions over those of their new owners.
    """
    coordinator = consumer._coordinator
    reset = coordinator.reset_generation

    def reset_and_begin_anew(*arguments: Any, **named: Any) -> None:
        reset(*arguments, **named)
        coordinator.rejoining = False

    coordinator.reset_generation = reset_and_begin_anew


def poll(consumer: Any, max_records: int, limit_s: float) -> dict[Any, list[Any]]:
    """The client's own poll."""
    try:
        return dict(consumer.poll(timeout_ms=limit_s * 1000.0, max_records=max_records))
    finally:
        _keep_join(consumer)


def join_step(consumer: Any, limit_s: float) -> None:
    """Begin, continue or end a join, for `limit_s` at most, without fetching."""
    try:
        consumer._coordinator.poll(timeout_ms=limit_s * 1000.0)
    finally:
        _keep_join(consumer)


def fetch_while_joining(consumer: Any, max_records: int, limit_s: float) -> dict[Any, list[Any]]:
    """Records of what the member still owns; `poll` returns none before the join is through."""
    records, idle = consumer._fetcher.fetch_records(max_records, timeout_ms=limit_s * 1000.0)
    if not records and idle:
        time.sleep(limit_s)
    return dict(records)


def committed_texts(consumer: Any, partitions: list[Any]) -> list[tuple[Any, str | None]]:
    """What each partition's last commit says besides its offset, in one request; nothing when it takes too long."""
    try:
        found = consumer._coordinator.fetch_committed_offsets(partitions, timeout_ms=TEXTS_LIMIT_S * 1000.0)
    except KafkaError:
        return [(partition, None) for partition in partitions]
    return [(partition, found[partition].metadata if partition in found else None) for partition in partitions]


def forget_fetched_offsets(consumer: Any) -> None:
    """Drop committed offsets that were fetched and not used: when a partition comes back, they are another's past."""
    consumer._coordinator._offset_fetch_futures.clear()


def _keep_join(consumer: Any) -> None:
    coordinator = consumer._coordinator
    task = coordinator._join_task
    if task is None:
        return
    if not isinstance(task, _KeptJoin):
        coordinator._join_task = _KeptJoin(task)
    coordinator.request_rejoin()
