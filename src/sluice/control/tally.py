"""What a run came to: decisions, cost, and the latencies the consumers reported."""

from collections import Counter
from dataclasses import dataclass

from sluice.errors import InputError
from sluice.model import Action, Decision
from sluice.model.sketch import LatencySketch


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One group over one run; what nobody reported is unknown."""

    group: str
    policy: str
    ticks: int
    duration_s: float
    consumers: int
    """At the end."""
    up: int
    down: int
    reassign: int
    held_without_data: int
    """Ticks at which some offset was unknown."""
    replica_minutes: float
    events: int | None
    """Processed during the run, by the consumers' reports."""
    sla_ratio: float | None
    p50_s: float | None
    p99_s: float | None


class Tally:
    """A sink that adds up; the consumers' counters are subtracted tick by tick, so a restarted one counts from 0."""

    def __init__(self, *, objective_s: float) -> None:
        self._objective_s = objective_s
        self._groups: dict[str, _Group] = {}

    def append(self, decision: Decision) -> None:
        self._groups.setdefault(decision.group, _Group()).append(decision)

    def summaries(self) -> tuple[Summary, ...]:
        return tuple(group.summary(self._objective_s) for group in self._groups.values())


class Warned:
    """A sink that keeps each kind of warning once: at how many decisions it was given, and its last words."""

    def __init__(self) -> None:
        self._decisions = 0
        self._given: dict[str, tuple[int, str]] = {}

    def append(self, decision: Decision) -> None:
        self._decisions += 1
        for warning in decision.plan.warnings:
            count, _ = self._given.get(warning.template, (0, ""))
            self._given[warning.template] = count + 1, str(warning)

    def in_words(self) -> list[str]:
        return [f"warned at {n} of {self._decisions} decisions: {text}" for n, text in self._given.values()]


class _Group:
    def __init__(self) -> None:
        self._first: Decision | None = None
        self._last: Decision | None = None
        self._ticks = 0
        self._unknown = 0
        self._actions: Counter[Action] = Counter()
        self._replica_s = 0.0
        self._started: set[str] = set()
        self._seen: dict[str, LatencySketch] = {}
        self._latency: LatencySketch | None = None

    def append(self, decision: Decision) -> None:
        if self._first is None:
            self._first = decision
        if self._last is not None:
            self._replica_s += self._last.snapshot.assignment.count * (decision.time_s - self._last.time_s)
        self._last = decision
        self._ticks += 1
        self._unknown += not decision.workload.known
        # A change that takes several ticks is planned once; the others only bring it to its end.
        if decision.plan.action is not Action.HOLD:
            self._actions[decision.receipt.action] += 1
        self._started.update(decision.receipt.started)
        reports = decision.snapshot.reports
        for name, sketch in zip(
            decision.snapshot.assignment.consumers, (reports.latency or ()) if reports else (), strict=False
        ):
            if sketch is not None:
                self._add(name, sketch)

    def summary(self, objective_s: float) -> Summary:
        assert self._first is not None
        assert self._last is not None
        latency = self._latency
        return Summary(
            group=self._last.group,
            policy=self._last.plan.policy,
            ticks=self._ticks,
            duration_s=self._last.time_s - self._first.time_s,
            consumers=self._last.snapshot.assignment.count,
            up=self._actions[Action.UP],
            down=self._actions[Action.DOWN],
            reassign=self._actions[Action.REASSIGN],
            held_without_data=self._unknown,
            replica_minutes=self._replica_s / 60,
            events=None if latency is None else latency.total,
            sla_ratio=None if latency is None else latency.within_ratio(objective_s),
            p50_s=None if latency is None else latency.quantile_s(0.5),
            p99_s=None if latency is None else latency.quantile_s(0.99),
        )

    def _add(self, name: str, sketch: LatencySketch) -> None:
        # Who was started in this run did everything in it; of others only what they did since first heard counts.
        before = self._seen.get(name, LatencySketch.empty() if name in self._started else sketch)
        self._seen[name] = sketch
        try:
            new = sketch.minus(before)
        except InputError:
            new = sketch  # another process under the same name
        self._latency = new if self._latency is None else self._latency.plus(new)
