"""The consumer as a member of a Kafka consumer group: read, work, commit, and join whenever the group asks."""

import time
from threading import Event as Flag
from typing import Protocol

from kafka.errors import InconsistentGroupProtocolError, KafkaError

from sluice.errors import InputError, UnavailableError
from sluice.model import Partition, PublishedPlan
from sluice.sdk.age import process_age_s
from sluice.sdk.batching import Gathered
from sluice.sdk.event import Event
from sluice.sdk.group_settings import GroupSettings
from sluice.sdk.handler import Worker
from sluice.sdk.meter import Meter

# A plan, a signal or a join is noticed within this time by an idle consumer.
POLL_S = 0.05
CLOSE_LIMIT_S = 5.0
# A member that has slept or has lost the broker looks this often whether it still belongs to the group.
CUT_OFF_LOOK_S = 0.01


class Membership(Protocol):
    """What the consumer asks of its client (`sluice.sdk.group_client`)."""

    @property
    def owned(self) -> frozenset[Partition]: ...
    @property
    def joined(self) -> bool: ...
    @property
    def joining(self) -> bool: ...
    @property
    def applied_version(self) -> int | None: ...
    @property
    def pause_s(self) -> float | None: ...
    def wanted(self) -> bool: ...
    def cut_off(self) -> bool: ...
    def rejoin(self) -> None: ...
    def poll(self, max_events: int, limit_s: float) -> list[Event]: ...
    def join_step(self, limit_s: float) -> None: ...
    def taken(self) -> set[Partition]: ...
    def commit(self) -> None: ...
    def close(self, limit_s: float) -> None: ...


class Watch(Protocol):
    """The plans it hears of (`sluice.sdk.group_watch`)."""

    @property
    def latest(self) -> PublishedPlan | None: ...
    def ask(self, limit_s: float) -> PublishedPlan | None: ...


class GroupConsumer:
    """One thread. Nothing is committed before it is processed; what is in hand of a lost partition is dropped."""

    def __init__(
        self,
        *,
        name: str,
        settings: GroupSettings,
        client: Membership,
        worker: Worker,
        meter: Meter,
        gathered: Gathered,
        max_poll_events: int,
        stop: Flag,
        watch: Watch | None = None,
    ) -> None:
        self._name = name
        self._settings = settings
        self._client = client
        self._worker = worker
        self._meter = meter
        self._gathered = gathered
        self._max_poll_events = max_poll_events
        self._stop = stop
        self._watch = watch
        self._followed: int | None = None
        self._in_hand: list[Event] = []
        self._handing_over = False

    def run(self) -> None:
        """Until `stop` is set, or the handler fails for good; either way commit and leave the group."""
        try:
            while not self._stop.is_set():
                self._turn()
            self._hand_over()
        except InconsistentGroupProtocolError as error:
            raise InputError(
                "the group's members use another assignor or rebalance protocol; give all of them the same settings"
            ) from error
        except KafkaError as error:
            raise UnavailableError(f"the broker refused: {type(error).__name__}: {error}") from error
        finally:
            self._client.close(CLOSE_LIMIT_S)

    def _turn(self) -> None:
        """One step of everything; a batch that a join has interrupted goes on where it stopped."""
        self._follow_plan()
        events: list[Event] = []
        if self._in_hand:
            self._client.join_step(POLL_S)
        else:
            events = self._client.poll(min(self._gathered.room, self._max_poll_events), POLL_S)
        # First what was taken away, then what has come: a partition may have gone and come back in one poll, and its
        # new events are not the ones to drop.
        self._forget_taken()
        self._take_in(events)
        if not self._in_hand and self._gathered.ready(time.monotonic()):
            self._in_hand = self._gathered.take()
        if self._client.cut_off():
            time.sleep(CUT_OFF_LOOK_S)
        elif self._in_hand and (self._settings.cooperative or not self._client.joining):
            done = self._worker.work(self._in_hand, 0, self._interrupted)
            self._in_hand = self._in_hand[done:]
        self._client.commit()

    def _take_in(self, events: list[Event]) -> None:
        if events:
            self._meter.polled(len(events))
            self._meter.pause_s = self._client.pause_s
            self._gathered.add(events, time.monotonic())
        if self._meter.startup_s is None and self._client.joined:
            self._meter.startup_s = process_age_s()

    def _interrupted(self, _now_s: float) -> bool:
        if (self._stop.is_set() and not self._handing_over) or self._client.cut_off():
            return True
        return not self._settings.finish_batch and (self._client.wanted() or self._news() is not None)

    def _forget_taken(self) -> None:
        gone = self._client.taken()
        if gone:
            self._in_hand = [event for event in self._in_hand if event.partition not in gone]
            for partition in gone:
                self._gathered.forget(partition)

    def _news(self) -> PublishedPlan | None:
        """A plan to rebalance for. Not while a join is under way: its end would wipe the wish for another one out."""
        plan = self._watch.latest if self._watch else None
        if plan is None or not plan.wake or plan.version == self._followed or self._client.joining:
            return None
        return plan

    def _follow_plan(self) -> None:
        """Ask for a new round when there is a plan the group's assignment was not made from; once a plan."""
        if plan := self._news():
            self._followed = plan.version
            if plan.version != self._client.applied_version:
                self._client.rejoin()

    def _hand_over(self) -> None:
        """Planned out: let the others take over while this consumer still works, then leave with empty hands."""
        if self._watch is None or not self._settings.drain_s:
            return
        deadline_s = time.monotonic() + self._settings.drain_s
        # The signal may be quicker than the plan that is its reason.
        plan = self._watch.ask(self._settings.ask_limit_s)
        self._handing_over = True
        while plan is not None and self._name not in plan.target.consumers:
            if not self._client.owned or time.monotonic() > deadline_s:
                return
            self._turn()
            plan = self._watch.latest
