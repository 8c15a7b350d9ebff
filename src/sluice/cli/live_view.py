"""What a live run shows: a table that renews itself on a terminal, a line for what happens elsewhere."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from sluice.analyze.lag_time import lag_time_s
from sluice.control.tally import Summary
from sluice.errors import InputError
from sluice.model import Action, Decision
from sluice.model.sketch import LatencySketch

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table

LOOK_BACK = 120
EVENTS_SHOWN = 8
# Without a terminal: how often a line is written though nothing happens.
QUIET_S = 10.0


class LiveView:
    """A sink that shows each decision; `state` says where the controller stands with a group."""

    def __init__(self, console: "Console", *, title: str, state: Callable[[str], str]) -> None:
        from rich.live import Live

        self._console = console
        self._title = title
        self._state = state
        self._recent: dict[str, deque[Decision]] = {}
        self._events: deque[str] = deque(maxlen=EVENTS_SHOWN)
        self._wrote_s: dict[str, float] = {}
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None

    def __enter__(self) -> "LiveView":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def append(self, decision: Decision) -> None:
        recent = self._recent.setdefault(decision.group, deque(maxlen=LOOK_BACK))
        before = recent[-1] if recent else None
        happened = "; ".join(filter(None, (_happened(decision, before), _warned(decision, before))))
        recent.append(decision)
        stamp = time.strftime("%H:%M:%S", time.localtime(decision.time_s))
        if happened:
            self._events.append(f"{stamp} {decision.group}: {happened}")
        if self._live is not None:
            self._live.update(self._page(), refresh=True)
        elif happened or decision.time_s - self._wrote_s.get(decision.group, 0.0) >= QUIET_S:
            self._wrote_s[decision.group] = decision.time_s
            self._console.print(
                f"{stamp} {decision.group}: {happened or 'holds'}; {self._numbers(decision)}", soft_wrap=True
            )

    def _page(self) -> "Group":
        from rich.console import Group
        from rich.text import Text

        # Sentences stand under the table: in a column of it they would be a word wide.
        plans = [
            Text(f"{group}: {recent[-1].plan.action} ({recent[-1].plan.reason})")
            for group, recent in self._recent.items()
        ]
        lines = [Text(text, overflow="ellipsis", no_wrap=True) for text in self._events]
        return Group(self._table(), *plans, Text(), *lines)

    def _table(self) -> "Table":
        from rich import box
        from rich.table import Table

        table = Table(title=self._title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("group", "state", "consumers", "arrivals/s", "lag", "lag s", "p99", "plan", "beside"):
            table.add_column(name, justify="left" if name in ("group", "state", "plan", "beside") else "right")
        for group, recent in self._recent.items():
            decision = recent[-1]
            plan = decision.plan
            table.add_row(
                group,
                self._state(group),
                str(decision.snapshot.assignment.count),
                _number(float(decision.workload.arrival_eps.sum())),
                _number(float(decision.workload.lag_events.sum())),
                _number(self._lag_s(decision), ".1f"),
                _seconds(self._p99_s(group)),
                _wish(plan.action, plan.target.count),
                ", ".join(f"{p.policy}: {_wish(p.action, p.target.count)}" for p in decision.shadows) or "-",
            )
        return table

    def _numbers(self, decision: Decision) -> str:
        workload = decision.workload
        return (
            f"{decision.snapshot.assignment.count} consumers, {_number(float(workload.arrival_eps.sum()))} events/s, "
            f"lag {_number(float(workload.lag_events.sum()))} ({_number(self._lag_s(decision), '.1f')} s), "
            f"p99 {_seconds(self._p99_s(decision.group))}, {self._state(decision.group)}"
        )

    def _lag_s(self, decision: Decision) -> float:
        lag = lag_time_s(decision.snapshot, [d for d in self._recent[decision.group] if d is not decision])
        return float(np.max(lag)) if len(lag) else float("nan")

    def _p99_s(self, group: str) -> float | None:
        """Of what each consumer processed since its first report in the last 30 ticks."""
        recent = list(self._recent[group])[-31:]
        now, then = _sketches(recent[-1]), dict[str, LatencySketch]()
        for decision in recent:
            then = {**_sketches(decision), **then}
        total = LatencySketch.empty()
        for name in now:
            # Another process under the same name has counters of its own.
            with suppress(InputError):
                total = total.plus(now[name].minus(then[name]))
        return total.quantile_s(0.99)


def print_summary(console: "Console", summaries: Sequence[Summary], objective_s: float) -> None:
    """One line a group: what the run came to."""
    for each in summaries:
        kept = "latency unknown (nobody reported)"
        if each.sla_ratio is not None:
            kept = f"{each.sla_ratio:.2%} of {each.events:,} events within {objective_s:g} s"
        console.print(
            f"{each.group}: {kept}, p99 {_seconds(each.p99_s)}; {each.replica_minutes:.2f} replica-minutes, "
            f"{each.up} up, {each.down} down, {each.reassign} reassigned in {each.ticks} ticks",
            soft_wrap=True,
        )


def _sketches(decision: Decision) -> dict[str, LatencySketch]:
    reports = decision.snapshot.reports
    if reports is None or reports.latency is None:
        return {}
    named = zip(decision.snapshot.assignment.consumers, reports.latency, strict=True)
    return {name: sketch for name, sketch in named if sketch is not None}


def _happened(decision: Decision, before: Decision | None) -> str | None:
    """What is worth a line: an action, another wish than before, a problem, data lost and found."""
    plan, receipt = decision.plan, decision.receipt
    # Of a change that takes several ticks the first one counts.
    if receipt.action is not Action.HOLD and plan.action is not Action.HOLD:
        return f"{_wish(receipt.action, plan.target.count)}: {plan.reason}"
    if receipt.problem is not None and (before is None or before.receipt.problem != receipt.problem):
        return receipt.problem
    wished = None if before is None else (before.plan.action, before.plan.target.count)
    if plan.action is not Action.HOLD and wished != (plan.action, plan.target.count):
        return f"would {_wish(plan.action, plan.target.count)}: {plan.reason}"
    known = before is None or before.workload.known
    if decision.workload.known != known:
        return "everything is measured again" if not known else f"not everything is known: {plan.reason}"
    return None


def _warned(decision: Decision, before: Decision | None) -> str:
    """Warnings of another kind than those of the tick before; their numbers change with every tick."""
    known = {warning.template for warning in before.plan.warnings} if before is not None else set[str]()
    return "; ".join(f"warning: {w}" for w in decision.plan.warnings if w.template not in known)


def _wish(action: Action, count: int) -> str:
    return f"{action} to {count}" if action in (Action.UP, Action.DOWN) else str(action)


def _number(value: float, form: str = ",.0f") -> str:
    return "?" if value != value else format(value, form)


def _seconds(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"
