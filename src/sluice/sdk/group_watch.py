"""Learns of a new plan the moment it is published, so that a change without a change of members happens too."""

from threading import Event, Thread

from sluice.model import PublishedPlan
from sluice.sdk.group_source import PlanSource

RETRY_S = 0.5


class PlanWatch:
    """A thread that keeps the latest plan; None while the controller is away or has none."""

    def __init__(self, source: PlanSource) -> None:
        self._source = source
        self._latest: PublishedPlan | None = None
        self._closed = Event()
        # A daemon: it may hang in a request, and nothing is lost when it ends with the process.
        Thread(target=self._run, daemon=True, name="sluice-plan-watch").start()

    @property
    def latest(self) -> PublishedPlan | None:
        return self._latest

    def ask(self, limit_s: float) -> PublishedPlan | None:
        """The plan in force right now, not the last one heard of."""
        return self._source.ask(limit_s)

    def close(self) -> None:
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            known = self._latest
            self._latest = self._source.wait(known.version if known else None)
            if self._latest is None:
                self._closed.wait(RETRY_S)
