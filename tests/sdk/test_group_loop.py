"""The consumer's loop against a membership that does what the script says."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event as Flag

import pytest
from kafka.errors import InconsistentGroupProtocolError, TopicAuthorizationFailedError

from sluice.errors import InputError, UnavailableError
from sluice.model import Assignment, Partition, PublishedPlan
from sluice.sdk.batching import Batch, Gathered
from sluice.sdk.event import Event
from sluice.sdk.group import GroupConsumer
from sluice.sdk.group_settings import GroupSettings
from sluice.sdk.handler import Interrupted
from sluice.sdk.meter import Meter

A, B = Partition("t", 0), Partition("t", 1)


def events(partition: Partition, first: int, count: int) -> list[Event]:
    return [Event(partition, offset, None, b"x", 0.0) for offset in range(first, first + count)]


@dataclass
class Script:
    """A membership; each poll takes the next step, which may change everything else."""

    steps: deque[Callable[["Script"], list[Event]]]
    stop: Flag
    owned: frozenset[Partition] = frozenset({A, B})
    joined: bool = True
    joining: bool = False
    applied_version: int | None = None
    pause_s: float | None = None
    is_wanted: bool = False
    is_cut_off: bool = False
    gone: set[Partition] = field(default_factory=set)
    rejoins: int = 0
    commits: int = 0
    closed: bool = False
    join_steps: deque[Callable[["Script"], None]] = field(default_factory=deque)

    def wanted(self) -> bool:
        return self.is_wanted

    def cut_off(self) -> bool:
        return self.is_cut_off

    def rejoin(self) -> None:
        self.rejoins += 1

    def poll(self, max_events: int, limit_s: float) -> list[Event]:
        assert max_events > 0
        assert limit_s > 0
        if not self.steps:
            self.stop.set()
            return []
        return self.steps.popleft()(self)

    def join_step(self, limit_s: float) -> None:
        assert limit_s > 0
        if self.join_steps:
            self.join_steps.popleft()(self)

    def taken(self) -> set[Partition]:
        taken, self.gone = self.gone, set()
        return taken

    def commit(self) -> None:
        self.commits += 1

    def close(self, limit_s: float) -> None:
        assert limit_s > 0
        self.closed = True


@dataclass
class Hands:
    """Handles events one by one, as the real worker does, and lets the test act after each."""

    done: list[tuple[Partition, int]] = field(default_factory=list)
    after: Callable[[int], None] = lambda _: None

    def work(self, batch: Sequence[Event], first: int, interrupted: Interrupted) -> int:
        for index in range(first, len(batch)):
            if interrupted(0.0):
                return index
            self.done.append((batch[index].partition, batch[index].offset))
            self.after(len(self.done))
        return len(batch)


@dataclass
class Board:
    latest: PublishedPlan | None = None

    def ask(self, limit_s: float) -> PublishedPlan | None:
        assert limit_s > 0
        return self.latest


def plan(version: int, *consumers: str, wake: bool = True) -> PublishedPlan:
    target = Assignment.of({name: [] for name in consumers})
    return PublishedPlan(group="g", version=version, time_s=0.0, target=target, wake=wake)


def run(
    *steps: Callable[[Script], list[Event]],
    settings: GroupSettings | None = None,
    hands: Hands | None = None,
    watch: Board | None = None,
    join_steps: Sequence[Callable[[Script], None]] = (),
) -> tuple[Script, list[tuple[Partition, int]]]:
    stop, worker = Flag(), hands or Hands()
    script = Script(deque(steps), stop, join_steps=deque(join_steps))
    GroupConsumer(
        name="c0",
        settings=settings or GroupSettings(),
        client=script,
        worker=worker,
        meter=Meter(),
        gathered=Gathered(Batch()),
        max_poll_events=500,
        stop=stop,
        watch=watch,
    ).run()
    assert script.closed
    return script, worker.done


def test_everything_polled_is_handled_in_order_and_committed() -> None:
    script, done = run(lambda _: events(A, 0, 3), lambda _: [*events(B, 5, 1), *events(A, 3, 1)])
    assert done == [(A, 0), (A, 1), (A, 2), (B, 5), (A, 3)]
    assert script.commits >= 2


def test_a_partition_that_went_and_came_back_in_one_poll_keeps_its_new_events() -> None:
    def gone_and_back(script: Script) -> list[Event]:
        script.gone.add(A)
        return events(A, 0, 2)

    _, done = run(gone_and_back)
    assert done == [(A, 0), (A, 1)]


def test_a_join_interrupts_a_batch_and_what_is_anothers_by_then_is_dropped() -> None:
    hands = Hands()

    def start(script: Script) -> list[Event]:
        def after(count: int) -> None:
            script.is_wanted = count == 2

        hands.after = after
        return [*events(A, 0, 3), *events(B, 0, 2)]

    def joined(script: Script) -> None:
        script.is_wanted = False
        script.gone.add(A)

    _, done = run(start, hands=hands, join_steps=[joined])
    assert done == [(A, 0), (A, 1), (B, 0), (B, 1)]


def test_eager_members_do_nothing_while_they_join_and_cooperative_ones_go_on() -> None:
    for rebalance, during in (("eager", 0), ("cooperative", 3)):
        hands = Hands()
        seen: list[int] = []

        def joining(script: Script) -> list[Event]:
            script.joining = True
            return events(A, 0, 3)

        def through(script: Script, hands: Hands = hands, seen: list[int] = seen) -> None:
            seen.append(len(hands.done))
            script.joining = False

        def idle(script: Script, hands: Hands = hands, seen: list[int] = seen) -> list[Event]:
            seen.append(len(hands.done))
            script.joining = False
            return []

        _, done = run(joining, idle, settings=GroupSettings(rebalance=rebalance), hands=hands, join_steps=[through])
        assert seen[0] == during
        assert len(done) == 3


def test_a_member_that_is_cut_off_waits_with_the_rest() -> None:
    hands = Hands()
    seen: list[int] = []

    def start(script: Script) -> list[Event]:
        def after(count: int) -> None:
            script.is_cut_off = count == 1

        hands.after = after
        return events(A, 0, 3)

    def still(_: Script) -> None:
        seen.append(len(hands.done))

    def lost(script: Script) -> None:
        seen.append(len(hands.done))
        script.is_cut_off = False
        script.gone.add(A)

    _, done = run(start, hands=hands, join_steps=[still, lost])
    assert seen == [1, 1]
    assert done == [(A, 0)]


def test_a_plan_is_followed_once_and_not_while_a_join_is_under_way() -> None:
    board = Board()

    def news_during_a_join(script: Script) -> list[Event]:
        board.latest, script.joining = plan(7, "c0"), True
        return []

    def still_joining(script: Script) -> list[Event]:
        assert script.rejoins == 0
        script.joining = False
        return []

    def afterwards(script: Script) -> list[Event]:
        assert script.rejoins == 1
        return events(A, 0, 1)

    script, done = run(news_during_a_join, still_joining, afterwards, watch=board)
    assert (script.rejoins, len(done)) == (1, 1)


@pytest.mark.parametrize(("applied", "wake", "rejoins"), [(7, True, 0), (6, True, 1), (None, True, 1), (6, False, 0)])
def test_only_news_is_a_reason_to_rebalance(applied: int | None, wake: bool, rejoins: int) -> None:
    def step(script: Script) -> list[Event]:
        script.applied_version = applied
        board.latest = plan(7, "c0", wake=wake)
        return []

    board = Board()
    script, _ = run(step, lambda _: [], watch=board)
    assert script.rejoins == rejoins


def test_a_consumer_that_is_planned_out_works_until_the_others_have_taken_over() -> None:
    board, hands = Board(plan(1, "c0")), Hands()

    def told_to_stop(script: Script) -> list[Event]:
        board.latest = plan(2, "c1")
        script.stop.set()
        return events(A, 0, 2)

    def taken_over(script: Script) -> list[Event]:
        script.gone, script.owned = {A, B}, frozenset()
        return []

    _, done = run(told_to_stop, lambda _: events(A, 2, 1), taken_over, hands=hands, watch=board)
    assert done == [(A, 0), (A, 1), (A, 2)]


def test_a_consumer_of_the_plan_that_is_told_to_stop_leaves_at_once() -> None:
    def told_to_stop(script: Script) -> list[Event]:
        script.stop.set()
        return events(A, 0, 2)

    _, done = run(told_to_stop, watch=Board(plan(1, "c0")))
    assert done == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [(InconsistentGroupProtocolError(), InputError), (TopicAuthorizationFailedError("t"), UnavailableError)],
)
def test_what_the_broker_refuses_is_one_clear_line(error: Exception, kind: type[Exception]) -> None:
    def refused(_: Script) -> list[Event]:
        raise error

    with pytest.raises(kind) as caught:
        run(refused)
    assert "\n" not in str(caught.value)
