"""What becomes of events whose handler raises, and what is measured of those that succeed."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InputError, UnavailableError
from sluice.model import Partition
from sluice.sdk.event import Event
from sluice.sdk.failure import HandlerFailedError, OnError, Policy, dead_letter_headers
from sluice.sdk.handler import BatchWorker, EventWorker
from sluice.sdk.meter import Meter

P = Partition("payments", 0)


class Clock:
    """Time passes only when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


class Letters:
    def __init__(self, failures: int = 0) -> None:
        self.kept: list[tuple[int, str, int]] = []
        self._failures = failures

    def __call__(self, event: Event, error: BaseException, tries: int) -> None:
        if self._failures:
            self._failures -= 1
            raise UnavailableError("no broker")
        self.kept.append((event.offset, str(error), tries))


def never(_: float) -> bool:
    return False


def after(instant_s: float) -> Callable[[float], bool]:
    return lambda now: now > instant_s


def events(count: int) -> list[Event]:
    return [Event(P, offset, None, str(offset).encode(), 0.0) for offset in range(count)]


class Bench:
    """A worker with everything around it."""

    def __init__(self, poison: Callable[[Event], bool], *, on_error: OnError, letters: Letters | None = None) -> None:
        self.clock = Clock()
        self.meter = Meter()
        self.letters = letters or Letters()
        self.seen: list[int] = []
        self.calls: list[tuple[int, ...]] = []
        self._poison = poison
        self._on_error = on_error

    def event_worker(self) -> EventWorker:
        return EventWorker(
            self._handle,
            meter=self.meter,
            on_error=self._on_error,
            dead_letter=self.letters,
            clock=self.clock,
            sleep=self.clock.sleep,
        )

    def batch_worker(self) -> BatchWorker:
        return BatchWorker(
            self._handle_batch,
            meter=self.meter,
            on_error=self._on_error,
            dead_letter=self.letters,
            clock=self.clock,
            sleep=self.clock.sleep,
        )

    def _handle(self, event: Event) -> None:
        self.clock.now_s += 0.005
        if self._poison(event):
            raise ValueError(f"poison {event.offset}")
        self.seen.append(event.offset)

    def _handle_batch(self, batch: Sequence[Event]) -> None:
        self.calls.append(tuple(event.offset for event in batch))
        for event in batch:
            if self._poison(event):
                raise ValueError(f"poison {event.offset}")
        self.seen.extend(event.offset for event in batch)


def test_good_events_are_handled_once_in_order_and_measured() -> None:
    bench = Bench(lambda _: False, on_error=OnError())
    assert bench.event_worker().work(events(20), 0, never) == 20
    assert bench.seen == list(range(20))
    assert bench.meter.processed_events == 20
    assert bench.meter.busy_s == pytest.approx(20 * 0.005)
    assert bench.meter.busy_s2 == pytest.approx(20 * 0.005**2)
    assert bench.meter.positions == {P: 20}


def test_retry_waits_longer_each_time_and_skips_nothing() -> None:
    failures = iter([True] * 5)
    bench = Bench(lambda e: e.offset == 1 and next(failures, False), on_error=OnError(policy=Policy.RETRY, attempts=2))
    started = bench.clock.now_s
    assert bench.event_worker().work(events(3), 0, never) == 3
    assert bench.seen == [0, 1, 2]
    assert bench.meter.retried_events == 5
    waited = 0.1 + 0.2 + 0.4 + 0.8 + 1.6
    assert bench.clock.now_s - started == pytest.approx(waited + 8 * 0.005)
    # Waiting is no work; tries that fail are.
    assert bench.meter.busy_s == pytest.approx(8 * 0.005)


def test_dead_letter_keeps_the_event_elsewhere_and_goes_on() -> None:
    bench = Bench(lambda e: e.offset == 1, on_error=OnError(policy=Policy.DEAD_LETTER, attempts=3))
    assert bench.event_worker().work(events(3), 0, never) == 3
    assert bench.seen == [0, 2]
    assert bench.letters.kept == [(1, "poison 1", 3)]
    assert bench.meter.positions == {P: 3}


def test_an_event_the_dead_letter_topic_did_not_take_is_not_passed_over() -> None:
    letters = Letters(failures=2)
    bench = Bench(lambda e: e.offset == 0, on_error=OnError(policy=Policy.DEAD_LETTER, attempts=1), letters=letters)
    worker = bench.event_worker()
    give_up_s = bench.clock.now_s + 4.0
    assert worker.work(events(2), 0, after(give_up_s)) == 0
    assert bench.meter.positions == {}
    assert worker.work(events(2), 0, never) == 2
    assert [offset for offset, _, _ in letters.kept] == [0]


def test_every_failure_is_said_and_the_first_one_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    letters = Letters(failures=1)
    on_error = OnError(policy=Policy.DEAD_LETTER, attempts=2)
    bench = Bench(lambda event: event.offset == 1, on_error=on_error, letters=letters)
    assert bench.event_worker().work(events(3), 0, never) == 3
    assert [record.getMessage() for record in caplog.records] == [
        "the handler failed on payments-0 offset 1, try 1: ValueError: poison 1",
        "the handler failed on payments-0 offset 1, try 2: ValueError: poison 1",
        "no broker",
        "the handler failed on payments-0 offset 1, try 3: ValueError: poison 1",
        "payments-0 offset 1 is in payments.dead-letter now",
    ]
    assert [record.exc_info is not None for record in caplog.records] == [True, False, False, False, False]
    caplog.clear()
    Bench(lambda event: event.offset == 1, on_error=on_error).batch_worker().work(events(3), 0, never)
    assert (
        caplog.messages[0] == "the handler failed on a batch of 3 from payments-0 offset 0, try 1: ValueError: poison 1"
    )


def test_stop_raises_and_leaves_the_event_undone() -> None:
    bench = Bench(lambda e: e.offset == 2, on_error=OnError(policy=Policy.STOP, attempts=2))
    with pytest.raises(HandlerFailedError, match="failed 2 times on payments-0 offset 2: ValueError: poison 2"):
        bench.event_worker().work(events(4), 0, never)
    assert bench.meter.positions == {P: 2}
    assert bench.meter.processed_events == 2


def test_an_interruption_leaves_the_rest_untouched_even_in_a_wait() -> None:
    bench = Bench(lambda e: e.offset == 1, on_error=OnError(policy=Policy.RETRY, backoff_s=1.0))
    worker = bench.event_worker()
    stop_s = bench.clock.now_s + 0.5
    assert worker.work(events(3), 0, after(stop_s)) == 1
    assert bench.clock.now_s == pytest.approx(stop_s, abs=0.03)
    # The next event of another partition does not wait for the one in trouble.
    other = [Event(Partition("payments", 1), 7, None, b"", 0.0)]
    before = bench.clock.now_s
    assert worker.work(other, 0, never) == 1
    assert bench.clock.now_s - before == pytest.approx(0.005)


def test_a_failing_batch_is_worked_off_one_by_one() -> None:
    bench = Bench(lambda e: e.offset == 2, on_error=OnError(policy=Policy.DEAD_LETTER, attempts=2))
    assert bench.batch_worker().work(events(4), 0, never) == 4
    assert bench.calls == [(0, 1, 2, 3), (0, 1, 2, 3), (0,), (1,), (2,), (2,), (3,)]
    assert bench.seen == [0, 1, 3]
    assert [offset for offset, _, _ in bench.letters.kept] == [2]


@given(
    poison=st.sets(st.integers(0, 30)),
    size=st.integers(1, 30),
    attempts=st.integers(1, 4),
    batches=st.booleans(),
    nap_s=st.floats(0.01, 1.0),
)
def test_every_event_is_handled_or_kept_elsewhere_exactly_once(
    poison: set[int], size: int, attempts: int, batches: bool, nap_s: float
) -> None:
    """Whatever is interrupted whenever: seen and dead letters together are all events, each once, in order."""
    bench = Bench(
        lambda e: e.offset in poison, on_error=OnError(policy=Policy.DEAD_LETTER, attempts=attempts, backoff_s=0.05)
    )
    worker = bench.batch_worker() if batches else bench.event_worker()
    batch, done, rounds = events(size), 0, 0
    while done < size:
        done = worker.work(batch, done, after(bench.clock.now_s + nap_s))
        rounds += 1
        assert rounds < 10_000
    kept = [offset for offset, _, _ in bench.letters.kept]
    assert sorted(bench.seen + kept) == list(range(size))
    assert set(kept) == poison & set(range(size))
    assert bench.seen == sorted(bench.seen)


def test_a_dead_letter_says_where_it_came_from() -> None:
    event = Event(P, 5, b"k", b"v", 0.0, (("trace", b"1"),))
    headers = dict(dead_letter_headers(event, ValueError("bad"), 3))
    assert headers["trace"] == b"1"
    assert headers["sluice.offset"] == b"5"
    assert headers["sluice.error"] == b"ValueError: bad"
    assert OnError().topic_for(event) == "payments.dead-letter"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: OnError(policy="skip"), "on_error.policy is 'skip'; known: dead-letter, retry, stop"),
        (lambda: OnError(attempts=0), "on_error.attempts is 0"),
        (lambda: OnError(backoff_s=9.0), "on_error.backoff_s is 9.0"),
    ],
)
def test_bad_policies_are_refused(made: Callable[[], object], text: str) -> None:
    with pytest.raises(InputError, match=text):
        made()
