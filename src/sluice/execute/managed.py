"""Carries plans out with managed consumers: a thread follows the steward's word, `apply` says what is wanted."""

import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Protocol

from sluice.errors import UnavailableError
from sluice.execute.control_link import ControlLink
from sluice.execute.effects import Effect, Fence, Send, Spawn, Terminate
from sluice.execute.steps import completed
from sluice.execute.steward import Steward
from sluice.execute.timing import Timing
from sluice.model import Action, Assignment, Partition, Plan, Receipt
from sluice.model.commands import Record, Report

READ_WAIT_S = 0.05
TEND_EVERY_S = 0.1
FENCE_LIMIT_S = 5.0
CLOSE_LIMIT_S = 2.0
# A new leader hears of idle consumers with their next report; until then it does not take them for superfluous.
ADOPT_S = 1.0


class Launcher(Protocol):
    """Where consumer processes come from."""

    def start(self, consumer: str, instance: str) -> None: ...

    def stop(self, consumer: str, instance: str) -> None:
        """Tell it to leave; does not wait."""
        ...

    def new_instance(self) -> str:
        """A name for the next process."""
        ...

    def ended(self, instances: Iterable[str]) -> Collection[str]:
        """Those of the instances that have certainly ended."""
        ...

    def last_words(self, instance: str) -> str | None:
        """The end of its output; None when it wrote nothing."""
        ...


class ManagedExecutor:
    """One group. Commands nobody before the first plan: until then another controller may lead.

    `apply` returns after `patience_s` at the latest; a change that takes longer goes on, and the next receipt tells.
    """

    def __init__(
        self,
        link: ControlLink,
        launcher: Launcher,
        *,
        timing: Timing | None = None,
        patience_s: float = 0.5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._launcher = launcher
        self._timing = timing or Timing()
        self._patience_s = patience_s
        self._clock = clock
        self._changed = threading.Condition()
        self._steward = self._new_steward()
        self._wanted = False
        self._claimed = False
        self._leading_since_s: float | None = None
        self._tend_due_s = 0.0
        self._fences: dict[str, Future[bool]] = {}
        self._pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="sluice-fence")
        self._problems: list[str] = []
        self._closing = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="sluice-steward")
        self._thread.start()

    def apply(self, plan: Plan) -> Receipt:
        """Aim at the plan's target; to hold means to finish what was begun, and to leave nothing without an owner."""
        with self._changed:
            self._wanted = True
            if not self._wait(lambda: self._steward.leading):
                return Receipt(
                    time_s=plan.time_s, action=plan.action, complete=False, problem="the control topic does not answer"
                )
            target = self._target_of(plan)
            if target is not None:
                self._steward.aim(target, self._clock())
                self._carry_out()
                self._wait(lambda: self._steward.settled)
            return self._receipt(plan, target)

    def assignment(self, partitions: tuple[Partition, ...]) -> Assignment:
        """Who has what, as far as the consumers have said so."""
        with self._changed:
            return self._steward.assignment(partitions)

    def standing(self, partitions: tuple[Partition, ...]) -> tuple[Assignment, bool] | None:
        """Who has what, and whether that is what is wanted; None while this controller commands nobody."""
        with self._changed:
            if not self._steward.leading or self._steward.target is None:
                return None
            return self._steward.assignment(partitions), self._steward.settled

    @property
    def settled(self) -> bool:
        with self._changed:
            return self._steward.settled

    def close(self) -> None:
        """Stop commanding; the consumers go on by themselves."""
        self._closing = True
        self._thread.join()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._link.close(CLOSE_LIMIT_S)

    def _new_steward(self) -> Steward:
        leader = f"controller-{uuid.uuid4().hex[:8]}"
        return Steward(leader=leader, timing=self._timing, new_instance=self._launcher.new_instance)

    def _wait(self, done: Callable[[], bool]) -> bool:
        return self._changed.wait_for(done, self._patience_s)

    def _target_of(self, plan: Plan) -> Assignment | None:
        if plan.action is not Action.HOLD:
            return completed(plan.target)
        partitions, before = plan.current.partitions, self._steward.target
        if before is not None and before.partitions == partitions:
            return before
        if self._leading_since_s is None or self._clock() - self._leading_since_s < ADOPT_S:
            return None
        stands = self._steward.assignment(partitions)
        return completed(stands) if stands.count else None

    def _receipt(self, plan: Plan, target: Assignment | None) -> Receipt:
        done = self._steward.take_done()
        problems, self._problems = [*done.problems, *self._problems], []
        settled = target is None or self._steward.settled
        if not settled:
            problems.append(self._steward.under_way())
        return Receipt(
            time_s=plan.time_s,
            action=plan.action,
            complete=settled,
            started=tuple(done.started),
            stopped=tuple(done.retired),
            moved_count=len(done.pauses),
            pause_s=max((pause.pause_s for pause in done.pauses), default=None),
            startup_s=max(done.startups_s, default=None),
            problem="; ".join(problems) or None,
        )

    def _run(self) -> None:
        while not self._closing:
            self._link.read(READ_WAIT_S, self._on_command, self._on_report)
            with self._changed:
                self._lead()
                self._tend()
                self._collect_fences()
                self._steward.tick(self._clock())
                self._carry_out()
                self._changed.notify_all()

    def _on_command(self, offset: int, record: Record) -> None:
        with self._changed:
            self._steward.read(offset, record, self._clock())
            self._carry_out()

    def _on_report(self, report: Report) -> None:
        with self._changed:
            self._steward.report(report, self._clock())
            self._carry_out()

    def _lead(self) -> None:
        """Claim the lead when a plan asks for it; once deposed, begin anew with what the log says then."""
        if self._steward.deposed:
            self._steward = self._new_steward()
            self._wanted = self._claimed = False
            self._leading_since_s = None
            self._link.rewind()
        elif self._wanted and not self._claimed and self._link.caught_up:
            self._steward.claim(self._clock())
            self._claimed = True
        elif self._steward.leading and self._leading_since_s is None:
            self._leading_since_s = self._clock()

    def _tend(self) -> None:
        if self._clock() < self._tend_due_s:
            return
        self._tend_due_s = self._clock() + TEND_EVERY_S
        for instance in self._launcher.ended(self._steward.instances()):
            self._steward.gone(instance, self._clock(), partial(self._launcher.last_words, instance))

    def _collect_fences(self) -> None:
        for instance, future in list(self._fences.items()):
            if future.done():
                del self._fences[instance]
                if future.result():
                    self._steward.fenced(instance, self._clock())
                else:
                    self._fence(instance)

    def _fence(self, instance: str) -> None:
        self._fences.setdefault(instance, self._pool.submit(self._link.fence, instance, FENCE_LIMIT_S))

    def _carry_out(self) -> None:
        for effect in self._steward.take_effects():
            self._do(effect)

    def _do(self, effect: Effect) -> None:
        match effect:
            case Send(record):
                self._link.send(record)
            case Fence(_, instance):
                self._fence(instance)
            case Terminate(consumer, instance):
                self._launcher.stop(consumer, instance)
            case Spawn(consumer, instance):
                try:
                    self._launcher.start(consumer, instance)
                except UnavailableError as error:
                    self._problems.append(str(error))
                    self._steward.gone(instance, self._clock())
