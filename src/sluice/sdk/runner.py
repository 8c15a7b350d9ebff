"""The two functions a user calls."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from sluice.sdk.batching import Batch
from sluice.sdk.dead_letters import DeadLetterTopic
from sluice.sdk.failure import OnError
from sluice.sdk.handler import BatchHandler, BatchWorker, EventWorker, Handler, Worker, lease_clock
from sluice.sdk.meter import Meter
from sluice.sdk.settings import ConsumerSettings, Mode


def run(handler: Handler, *, on_error: OnError | None = None, **settings: Any) -> None:
    """Call `handler(event)` for every event of the topics, until the process is told to stop (SIGTERM, SIGINT).

    `settings` are the fields of `ConsumerSettings`; what is left out comes from the environment. At least once: an
    event is committed after its handler returned, never before. `on_error` says what happens when it raises.
    """
    chosen, policy = ConsumerSettings.from_environment(os.environ, **settings), on_error or OnError()
    meter, clock = Meter(), lease_clock()
    worker = EventWorker(
        handler, meter=meter, on_error=policy, dead_letter=DeadLetterTopic(chosen, policy), clock=clock
    )
    _consume(chosen, worker, meter, Batch(max_events=chosen.max_poll_events), clock)


def run_batches(
    handler: BatchHandler, *, batch: Batch | None = None, on_error: OnError | None = None, **settings: Any
) -> None:
    """Call `handler(events)` for batches gathered by count, bytes or time; otherwise like `run`."""
    chosen, policy = ConsumerSettings.from_environment(os.environ, **settings), on_error or OnError()
    meter, clock = Meter(), lease_clock()
    worker = BatchWorker(
        handler, meter=meter, on_error=policy, dead_letter=DeadLetterTopic(chosen, policy), clock=clock
    )
    _consume(chosen, worker, meter, batch or Batch(max_events=chosen.max_poll_events), clock)


def _consume(
    settings: ConsumerSettings, worker: Worker, meter: Meter, batch: Batch, clock: Callable[[], float]
) -> None:
    with _stop_on_signal() as stop:
        if settings.mode == Mode.MANAGED:
            # Each mode has its own Kafka client: only the one that is needed is loaded.
            from sluice.sdk.managed_start import run_managed

            run_managed(settings, worker=worker, meter=meter, batch=batch, stop=stop, clock=clock)
        else:
            from sluice.sdk.group_start import run_group

            run_group(settings, worker=worker, meter=meter, batch=batch, stop=stop)


@contextmanager
def _stop_on_signal() -> Iterator[threading.Event]:
    stop = threading.Event()

    def asked(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop  # signals are the main thread's; whoever runs us elsewhere stops the process himself
        return
    before = {number: signal.signal(number, asked) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
