"""What a live run shows: lines where there is no terminal, a table where there is one, and '?' for what is unknown."""

from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from sluice.cli.live_view import LiveView, print_summary
from sluice.control.tally import Tally
from sluice.model import (
    Action,
    Assignment,
    ConsumerReports,
    Decision,
    Partition,
    Plan,
    Reason,
    Receipt,
    Snapshot,
    Workload,
    replace,
)
from sluice.model.sketch import LatencySketch
from sluice.model.values import floats

PARTITIONS = (Partition("t", 0), Partition("t", 1))
ONE = Assignment.of({"c0": PARTITIONS})
TWO = Assignment.of({"c0": PARTITIONS[:1], "c1": PARTITIONS[1:]})


def decision(
    time_s: float, end: float, *, plan_to: Assignment = ONE, acted: bool = False, latencies: list[float] | None = None
) -> Decision:
    action = Action.UP if plan_to is TWO else Action.HOLD
    zero = floats([0])
    reports = ConsumerReports.of(
        processed_events=zero,
        emitted_events=zero,
        busy_s=zero,
        busy_s2=zero,
        latency_s=zero,
        gap_s=zero,
        gap_s2=zero,
        latency=(LatencySketch.of(latencies or []),),
    )
    seen = Snapshot(
        group="payments",
        time_s=time_s,
        assignment=ONE,
        end_events=floats([end, end]),
        committed_events=floats([0, 0]),
        reports=reports,
    )
    rate = floats([end, end])
    workload = Workload(group="payments", time_s=time_s, assignment=ONE, arrival_eps=rate, lag_events=rate)
    plan = Plan(
        group="payments",
        time_s=time_s,
        policy="binpack",
        action=action,
        current=ONE,
        target=plan_to,
        reason=Reason("{n} are needed", {"n": plan_to.count}),
    )
    receipt = Receipt(time_s=time_s, action=action if acted else Action.HOLD)
    shadow = replace(plan, policy="linear", action=Action.HOLD, target=ONE)
    return Decision(tick=0, snapshot=seen, workload=workload, plan=plan, receipt=receipt, shadows=(shadow,))


def shown(*decisions: Decision, terminal: bool) -> str:
    out = StringIO()
    console = Console(file=out, force_terminal=terminal, width=160, color_system=None)
    with LiveView(console, title="binpack, acting", state=lambda _: "sentinel") as view:
        for each in decisions:
            view.append(each)
    return out.getvalue()


def test_without_a_terminal_only_what_happens_is_a_line() -> None:
    quiet = [decision(100.0 + t, 10.0) for t in range(5)]
    text = shown(*quiet, decision(105.0, 20.0, plan_to=TWO, acted=True), decision(106.0, 20.0), terminal=False)
    lines = text.splitlines()
    assert len(lines) == 2
    assert "holds; 1 consumers, 20 events/s, lag 20" in lines[0]
    assert "up to 2: 2 are needed" in lines[1]


def test_a_line_in_a_file_is_one_line_however_long() -> None:
    many = {"text": "needed " * 40}
    begun = decision(100.0, 10.0, plan_to=TWO, acted=True)
    said = replace(begun, plan=replace(begun.plan, reason=Reason("{text}", many)))
    assert len(shown(said, terminal=False).splitlines()) == 1


def test_advice_is_told_once_and_lost_data_too() -> None:
    advice = [decision(100.0 + t, 10.0, plan_to=TWO) for t in range(3)]
    lost = [decision(103.0 + t, float("nan")) for t in range(3)]
    text = shown(*advice, *lost, decision(106.0, 10.0), terminal=False)
    assert text.count("would up to 2") == 1
    assert text.count("not everything is known") == 1
    assert text.count("everything is measured again") == 1
    assert "? events/s, lag ? (? s)" in text


def test_a_problem_is_told_once() -> None:
    stuck = [
        replace(decision(100.0 + t, 1.0), receipt=Receipt(time_s=0, action=Action.HOLD, problem="no broker"))
        for t in range(4)
    ]
    assert shown(*stuck, terminal=False).count("no broker") == 1


def test_a_warning_is_told_once_beside_what_happens() -> None:
    begun = decision(100.0, 10.0, plan_to=TWO, acted=True)
    warned = [
        replace(each, plan=replace(each.plan, warnings=(Reason("{n} s are too many", {"n": n}),)))
        for n, each in enumerate((begun, decision(101.0, 10.0), decision(102.0, 10.0)))
    ]
    (line,) = shown(*warned, terminal=False).splitlines()
    assert "up to 2: 2 are needed; warning: 0 s are too many" in line


def test_a_change_that_takes_several_ticks_is_told_once() -> None:
    begun = decision(100.0, 10.0, plan_to=TWO, acted=True)
    more = [
        replace(decision(100.0 + t, 10.0), receipt=Receipt(time_s=0, action=Action.UP, complete=False, problem="c1"))
        for t in (1, 2)
    ]
    text = shown(begun, *more, terminal=False)
    assert text.count("up to 2: 2 are needed") == 1
    assert len(text.splitlines()) == 2


def test_latencies_of_a_consumer_that_came_lately_count_from_its_first_report() -> None:
    unheard = replace(decision(100.0, 1.0), snapshot=replace(decision(100.0, 1.0).snapshot, reports=None))
    later = [decision(100.0 + t, 1.0, latencies=[9.0] + [0.2] * n) for t, n in ((1, 0), (2, 10), (12, 20))]
    assert "p99 20" in shown(unheard, *later, terminal=False).splitlines()[-1], "200 ms, and not the 9 s before it"


def test_on_a_terminal_there_is_a_table() -> None:
    text = shown(decision(100.0, 5.0), decision(101.0, 1234.0, latencies=[0.2] * 10), terminal=True)
    assert "binpack, acting" in text
    for word in ("payments", "sentinel", "2,468", "hold (1 are needed)", "linear: hold"):
        assert word in text
    assert "200 ms" in text or "19" in text


@pytest.mark.parametrize(
    ("latencies", "said"), [([0.1, 0.1, 0.1, 9.0], "75.00% of 4 events"), (None, "latency unknown")]
)
def test_the_summary_says_what_was_kept(latencies: list[float] | None, said: str) -> None:
    tally = Tally(objective_s=0.5)
    for time_s, values in ((0.0, []), (60.0, latencies)):
        each = decision(time_s, 1.0, latencies=values)
        tally.append(each if latencies else replace(each, snapshot=replace(each.snapshot, reports=None)))
    out = StringIO()
    print_summary(Console(file=out, width=160), tally.summaries(), 0.5)
    assert said in out.getvalue()
    assert "1.00 replica-minutes" in out.getvalue()
    assert not np.isnan(tally.summaries()[0].replica_minutes)
