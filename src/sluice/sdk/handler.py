"""Runs a user's handler over events: in order, with the policy for failures, and measured."""

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from sluice.errors import UnavailableError
from sluice.model import Partition
from sluice.sdk.event import Event
from sluice.sdk.failure import DeadLetter, HandlerFailedError, OnError, Policy
from sluice.sdk.meter import Meter

Handler = Callable[[Event], object]
BatchHandler = Callable[[Sequence[Event]], object]
Interrupted = Callable[[float], bool]
"""Asked before events with the time on `lease_clock`: True makes the worker return, with the event untouched."""

# An interruption is looked for before every event, except those that follow a look within this time.
LOOK_S = 0.0005
# How long a wait between two tries sleeps before it looks for an interruption again.
NAP_S = 0.02

_log = logging.getLogger("sluice.handler")


def lease_clock() -> Callable[[], float]:
    """A monotonic clock that also counts while the machine sleeps, where there is one: a lease must not stand still."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return partial(time.clock_gettime, time.CLOCK_BOOTTIME)
    return time.monotonic


class Worker(Protocol):
    def work(self, events: Sequence[Event], first: int, interrupted: Interrupted) -> int:
        """Handle `events[first:]` in order; the index of the first event that is not done yet."""
        ...


class EventWorker:
    """One call of the handler an event."""

    def __init__(
        self,
        handler: Handler,
        *,
        meter: Meter,
        on_error: OnError,
        dead_letter: DeadLetter,
        clock: Callable[[], float],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._handler = handler
        self._meter = meter
        self._trouble = _Trouble(meter=meter, on_error=on_error, dead_letter=dead_letter)
        self._clock = clock
        self._sleep = sleep

    def work(self, events: Sequence[Event], first: int, interrupted: Interrupted) -> int:
        clock, handler, trouble = self._clock, self._handler, self._trouble
        ended: list[float] = []
        begun = now = clock()
        waited: dict[int, float] = {}
        index, count, look_s, due_s = first, len(events), 0.0, trouble.due_s
        try:
            while index < count:
                if now >= look_s:
                    if interrupted(now):
                        break
                    look_s = now + LOOK_S
                event = events[index]
                if due_s > now and trouble.concerns(event):
                    # The wait is nobody's service time.
                    self._sleep(min(NAP_S, due_s - now))
                    rested, now = now, clock()
                    waited[index - first] = waited.get(index - first, 0.0) + now - rested
                    continue
                try:
                    handler(event)
                except Exception as error:
                    settled = trouble.settled(event, error, clock())
                    due_s = trouble.due_s
                    if not settled:
                        now = clock()
                        continue
                # One clock reading an event: the end of one is the beginning of the next.
                now = clock()
                ended.append(now)
                index += 1
        finally:
            self._meter.record(events[first:index], begun_s=begun, ended_s=ended, waited_s=waited, now_s=clock())
        return index


class BatchWorker:
    """One call of the handler a batch. A batch that keeps failing is tried event by event, to find the one at fault."""

    def __init__(
        self,
        handler: BatchHandler,
        *,
        meter: Meter,
        on_error: OnError,
        dead_letter: DeadLetter,
        clock: Callable[[], float],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._handler = handler
        self._meter = meter
        self._on_error = on_error
        self._clock = clock
        self._sleep = sleep
        self._singly = EventWorker(
            lambda event: handler([event]),
            meter=meter,
            on_error=on_error,
            dead_letter=dead_letter,
            clock=clock,
            sleep=sleep,
        )
        self._tries = 0
        self._due_s = 0.0
        self._last: tuple[Partition, int] | None = None

    def work(self, events: Sequence[Event], first: int, interrupted: Interrupted) -> int:
        now = self._clock()
        # A batch is known by its end: its beginning moves on while it is worked off one by one.
        if events and (last := _place(events[-1])) != self._last:
            self._tries, self._due_s, self._last = 0, 0.0, last
        while first < len(events) and not interrupted(now):
            if self._tries >= self._on_error.attempts:
                return self._singly.work(events, first, interrupted)
            if self._due_s > now:
                self._sleep(min(NAP_S, self._due_s - now))
            elif self._whole(events[first:], now):
                return len(events)
            now = self._clock()
        return first

    def _whole(self, batch: Sequence[Event], begun: float) -> bool:
        try:
            self._handler(batch)
        except Exception as error:  # a user's code may raise anything; the policy for errors decides
            self._tries += 1
            _say_failed(batch[0], error, self._tries, f"a batch of {len(batch)} from ")
            self._meter.retried_events += 1
            self._due_s = self._clock() + self._on_error.wait_s(self._tries)
            return False
        now = self._clock()
        ended = np.linspace(begun, now, len(batch) + 1)[1:]
        self._meter.record(batch, begun_s=begun, ended_s=ended, now_s=now)
        return True


class _Trouble:
    """The event that failed last, how often, and when it may be tried again."""

    def __init__(self, *, meter: Meter, on_error: OnError, dead_letter: DeadLetter) -> None:
        self._meter = meter
        self._on_error = on_error
        self._dead_letter = dead_letter
        self._tries = 0
        self._where: tuple[Partition, int] | None = None
        self.due_s = 0.0

    def concerns(self, event: Event) -> bool:
        return self._where == _place(event)

    def settled(self, event: Event, error: Exception, now: float) -> bool:
        """Count the failure; True when the event is dealt with, False when it is to be tried again."""
        where = _place(event)
        self._tries = self._tries + 1 if where == self._where else 1
        self._where = where
        self._meter.retried_events += 1
        _say_failed(event, error, self._tries)
        if not self._on_error.exhausted(self._tries):
            self.due_s = now + self._on_error.wait_s(self._tries)
            return False
        if self._on_error.policy == Policy.STOP:
            raise HandlerFailedError(
                f"the handler failed {self._tries} times on {event.partition} offset {event.offset}: "
                f"{type(error).__name__}: {error}"
            ) from error
        try:
            self._dead_letter(event, error, self._tries)
        except UnavailableError as trouble:
            # Neither handled nor kept elsewhere: going on would lose it.
            _log.error("%s", trouble)
            self.due_s = now + self._on_error.backoff_max_s
            return False
        _log.warning("%s offset %d is in %s now", event.partition, event.offset, self._on_error.topic_for(event))
        self._meter.skipped_events += 1
        self.due_s = 0.0
        return True


def _place(event: Event) -> tuple[Partition, int]:
    return event.partition, event.offset


def _say_failed(event: Event, error: Exception, tries: int, what: str = "") -> None:
    """Where it happened is told with the first try; the others fail at the same place."""
    told = error if tries == 1 else None
    _log.warning(
        "the handler failed on %s%s offset %d, try %d: %s: %s",
        what,
        event.partition,
        event.offset,
        tries,
        type(error).__name__,
        error,
        exc_info=told,
    )
