"""The plan in force, for whoever asks: in memory, over HTTP, and in a file."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from sluice.errors import UnavailableError
from sluice.model import Assignment, PublishedPlan, replace


class PlanBoard:
    """Holds one plan a group. A version is given out once, and stays while the target stays.

    `max_age_s`: a plan the controller has not stood by for that long is no longer shown: its loop has stopped.
    `epoch`: of the group's leadership; None: another controller leads, and nothing is published here.
    """

    def __init__(
        self,
        *,
        max_age_s: float = 60.0,
        folder: Path | None = None,
        now: Callable[[], float] = time.time,
        epoch: Callable[[str], int | None] = lambda _: 0,
    ) -> None:
        self._max_age_s = max_age_s
        self._folder = folder
        self._now = now
        self._epoch = epoch
        self._plans: dict[str, PublishedPlan] = {}
        self._changed = threading.Condition()

    def publish(self, group: str, target: Assignment, *, wake: bool = True) -> PublishedPlan:
        """Put the target up; the same target again only renews it. `wake`: members are to rebalance for it."""
        epoch = self._epoch(group)
        if epoch is None:
            raise UnavailableError(f"the plan of group {group} is not published: another controller leads")
        with self._changed:
            old = self._plans.get(group)
            if old is not None and same_target(old.target, target):
                plan = replace(old, time_s=self._now(), epoch=epoch)
            else:
                # The clock makes versions of a restarted controller differ from those of its predecessor.
                version = max(int(self._now() * 1000), old.version + 1 if old else 0)
                plan = PublishedPlan(
                    group=group, version=version, time_s=self._now(), target=target, epoch=epoch, wake=wake
                )
            self._plans[group] = plan
            self._changed.notify_all()
        self._write(plan)
        return plan

    def read(self, group: str) -> PublishedPlan | None:
        with self._changed:
            return self._valid(group)

    def wait(self, group: str, version: int, limit_s: float) -> PublishedPlan | None:
        """The plan as soon as its version is not `version`; after `limit_s` whatever there is."""
        with self._changed:
            self._changed.wait_for(lambda: (p := self._plans.get(group)) is not None and p.version != version, limit_s)
            return self._valid(group)

    def path(self, group: str) -> Path | None:
        """The file members on this machine may read instead of asking."""
        return self._folder / f"{quote(group, safe='')}.plan.json" if self._folder else None

    def _valid(self, group: str) -> PublishedPlan | None:
        plan = self._plans.get(group)
        return plan if plan is not None and self._now() - plan.time_s <= self._max_age_s else None

    def _write(self, plan: PublishedPlan) -> None:
        path = self.path(plan.group)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Replaced whole: a reader sees the old plan or the new one, never half of one.
        fresh = path.with_suffix(".new")
        fresh.write_text(plan.to_json())
        fresh.replace(path)


def same_target(left: Assignment, right: Assignment) -> bool:
    """The same consumers own the same partitions; other partitions make another target."""
    return left.partitions == right.partitions and left.same_as(right)
