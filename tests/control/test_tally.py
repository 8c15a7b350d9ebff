"""What a run came to, from its decisions."""

import numpy as np
import pytest

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
Latencies = dict[str, list[float] | None]


def decision(
    time_s: float,
    latencies: Latencies,
    *,
    action: Action = Action.HOLD,
    known: bool = True,
    started: tuple[str, ...] = (),
) -> Decision:
    """`latencies`: of each consumer all it ever processed; None: it is silent."""
    standing = Assignment.of({name: [] for name in latencies}, partitions=PARTITIONS)
    sketches = tuple(None if values is None else LatencySketch.of(values) for values in latencies.values())
    zero = floats([np.nan if values is None else 0 for values in latencies.values()])
    reports = ConsumerReports.of(
        processed_events=zero,
        emitted_events=zero,
        busy_s=zero,
        busy_s2=zero,
        latency_s=zero,
        gap_s=zero,
        gap_s2=zero,
        latency=sketches,
    )
    offsets = floats([0, 0] if known else [np.nan, 0])
    seen = Snapshot(
        group="g",
        time_s=time_s,
        assignment=standing,
        end_events=offsets,
        committed_events=offsets,
        reports=reports if latencies else None,
    )
    workload = Workload(group="g", time_s=time_s, assignment=standing, arrival_eps=offsets, lag_events=offsets)
    plan = Plan(
        group="g",
        time_s=time_s,
        policy="p",
        action=action,
        current=standing,
        target=standing,
        reason=Reason(""),
    )
    receipt = Receipt(time_s=time_s, action=action, started=started)
    return Decision(tick=0, snapshot=seen, workload=workload, plan=plan, receipt=receipt)


def test_events_of_the_run_count_those_before_it_do_not() -> None:
    tally = Tally(objective_s=0.5)
    tally.append(decision(0.0, {"c0": [9.0, 9.0]}))
    tally.append(decision(60.0, {"c0": [9.0, 9.0, 0.1, 0.1], "c1": [0.1]}, action=Action.UP, started=("c1",)))
    tally.append(decision(90.0, {"c0": None, "c1": [0.1, 0.1, 2.0]}, action=Action.DOWN))
    # c0 is back as another process: its counters began anew.
    tally.append(decision(120.0, {"c0": [0.2], "c1": [0.1, 0.1, 2.0]}, known=False))
    # Heard for the first time, but not started by this run: what it has done so far is another's.
    tally.append(decision(120.0, {"c0": [0.2], "c1": [0.1, 0.1, 2.0], "old": [9.0, 9.0]}, known=True))
    (summary,) = tally.summaries()
    assert summary.events == 6
    assert summary.sla_ratio == pytest.approx(5 / 6)
    assert summary.p99_s == pytest.approx(2.0, rel=0.03)
    assert summary.replica_minutes == pytest.approx(1 + 1 + 1)
    assert (summary.up, summary.down, summary.reassign) == (1, 1, 0)
    assert summary.ticks == 5
    assert summary.duration_s == 120.0
    assert summary.held_without_data == 1


def test_without_reports_latency_is_unknown_not_perfect() -> None:
    tally = Tally(objective_s=0.5)
    tally.append(decision(0.0, {}))
    (summary,) = tally.summaries()
    assert summary.sla_ratio is None
    assert summary.events is None


def test_groups_are_kept_apart() -> None:
    tally = Tally(objective_s=0.5)
    tally.append(decision(0.0, {"c0": []}))
    other = decision(0.0, {"c0": []})
    tally.append(replace(other, snapshot=replace(other.snapshot, group="h")))
    assert [summary.group for summary in tally.summaries()] == ["g", "h"]


def test_a_change_that_takes_several_ticks_is_one_action() -> None:
    tally = Tally(objective_s=0.5)
    begun = decision(0.0, {"c0": []}, action=Action.UP)
    tally.append(begun)
    for time_s in (1.0, 2.0):
        under_way = decision(time_s, {"c0": []})
        tally.append(replace(under_way, receipt=Receipt(time_s=time_s, action=Action.UP, complete=time_s == 2.0)))
    (summary,) = tally.summaries()
    assert (summary.up, summary.down, summary.ticks) == (1, 0, 3)
