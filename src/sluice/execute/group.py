"""Carries plans out with a Kafka consumer group: publishes the plan, starts and stops the consumers' processes.

Members do the rest themselves. Consumers that are to leave are told after the plan is up; they work until the others
have taken over. Consumers that are to come find the plan when they join, and nobody is disturbed before.
"""

from collections.abc import Callable
from typing import Protocol

from sluice.errors import SluiceError
from sluice.execute.board import PlanBoard, same_target
from sluice.execute.members import Members
from sluice.execute.retries import Retries
from sluice.model import NOBODY, Action, Assignment, Plan, Receipt

# A target the group has not reached by then is given up: what stands is the new starting point.
REACH_LIMIT_S = 60.0


class Fleet(Protocol):
    """The consumers' processes."""

    def running(self) -> frozenset[str]:
        """Names of the consumers that have been started and have not ended."""
        ...

    def start(self, consumer: str) -> None:
        """SluiceError when it cannot be started."""
        ...

    def stop(self, consumer: str) -> None:
        """Tell it to leave; does not wait."""
        ...

    def last_words(self, consumer: str) -> str | None:
        """The end of its output; None when it wrote nothing."""
        ...


class GroupExecutor:
    """One group. `board` None: Kafka's own assignor decides who gets what, and only the count of the plan matters."""

    def __init__(
        self, *, group: str, board: PlanBoard | None, fleet: Fleet, members: Callable[[], Members | None]
    ) -> None:
        self._group = group
        self._board = board
        self._fleet = fleet
        self._members = members
        self._target: Assignment | None = None
        self._since_s = 0.0
        self._reached = True
        self._ours: set[str] = set()
        """Every consumer that was ever started here."""
        self._expected: set[str] = set()
        """Those of them that nobody has told to leave."""
        self._leaving: set[str] = set()
        self._retries = Retries()

    def apply(self, plan: Plan) -> Receipt:
        seen = self._members()
        target = self._choose(plan)
        if target is None:
            return Receipt(time_s=plan.time_s, action=plan.action)
        if self._board is not None:
            joined = seen is not None and set(target.consumers) <= set(seen.owned)
            self._board.publish(self._group, target, wake=joined and plan.action is not Action.HOLD)
        problems: list[str] = []
        started = self._start(target, seen, problems, plan.time_s)
        stopped = self._stop(target, seen, problems)
        self._reached = seen is not None and (seen.stand_as(target) if self._board else seen.share_all(target))
        if not self._reached and not problems:
            problems.append("the broker did not answer" if seen is None else "the group is on its way")
        return Receipt(
            time_s=plan.time_s,
            action=plan.action,
            complete=not problems,
            started=started,
            stopped=stopped,
            moved_count=int(plan.current.moved(plan.target).sum()),
            problem="; ".join(problems) or None,
        )

    def _choose(self, plan: Plan) -> Assignment | None:
        """What is to stand. To hold means: what was begun is finished, and then what is there stays."""
        if plan.action is not Action.HOLD:
            if self._target is None or not same_target(self._target, plan.target):
                self._target, self._since_s, self._reached = plan.target, plan.time_s, False
        elif self._reached or plan.time_s - self._since_s > REACH_LIMIT_S:
            whole = plan.current.count > 0 and not bool((plan.current.owner == NOBODY).any())
            if whole:
                self._target, self._reached = plan.current, True
        return self._target

    def _start(self, target: Assignment, seen: Members | None, problems: list[str], now_s: float) -> tuple[str, ...]:
        """Those that are missing: not there, or there no more though the broker has not noticed yet."""
        running = self._fleet.running()
        # Without an answer nobody knows who is there; our own that have ended are certainly not.
        there = set(target.consumers) if seen is None else set(seen.owned)
        started = []
        for name in target.consumers:
            if name not in running and (name in self._ours or name not in there):
                if name in self._expected:
                    self._expected.discard(name)
                    self._retries.failed(name, now_s)
                    said = self._fleet.last_words(name)
                    problems.append(f"{name} ended{f': {said}' if said else ''}")
                if not self._retries.may_start(name, now_s):
                    continue
                try:
                    self._fleet.start(name)
                except SluiceError as error:
                    problems.append(f"{name} cannot be started: {error}")
                else:
                    self._ours.add(name)
                    self._expected.add(name)
                    started.append(name)
        return tuple(started)

    def _stop(self, target: Assignment, seen: Members | None, problems: list[str]) -> tuple[str, ...]:
        """Those that are too many; each is told once."""
        running = self._fleet.running()
        self._leaving &= running
        told = sorted(running - set(target.consumers) - self._leaving)
        for name in told:
            self._fleet.stop(name)
        self._leaving.update(told)
        self._expected.difference_update(told)
        strangers = set(seen.owned if seen else ()) - set(target.consumers) - self._ours - running
        if strangers:
            problems.append(f"started by somebody else, to be stopped there: {', '.join(sorted(strangers))}")
        return tuple(told)
