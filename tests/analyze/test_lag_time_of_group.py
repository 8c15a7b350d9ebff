"""Lag in seconds of a group: which position counts, and what retention takes away."""

import numpy as np
import pytest

from sluice.analyze.lag_time import lag_time_s
from sluice.model import (
    Action,
    Assignment,
    Decision,
    LagBasis,
    Partition,
    Plan,
    Reason,
    Receipt,
    Snapshot,
    Workload,
)
from sluice.model.values import floats

PARTITIONS = (Partition("t", 0), Partition("t", 1))
STANDING = Assignment.of({"c0": PARTITIONS})


def snapshot(time_s: float, end: list[float], committed: list[float], **fields: object) -> Snapshot:
    values: dict[str, object] = {
        "processed_events": None,
        "start_events": None,
        "lag_basis": LagBasis.COMMITTED,
        **fields,
    }
    processed, start, basis = values["processed_events"], values["start_events"], values["lag_basis"]
    assert isinstance(basis, LagBasis)
    return Snapshot(
        group="g",
        time_s=time_s,
        assignment=STANDING,
        end_events=floats(end),
        committed_events=floats(committed),
        processed_events=None if processed is None else floats(processed),
        start_events=None if start is None else floats(start),
        lag_basis=basis,
    )


def decision(seen: Snapshot) -> Decision:
    workload = Workload(
        group="g", time_s=seen.time_s, assignment=STANDING, arrival_eps=floats([0, 0]), lag_events=floats([0, 0])
    )
    plan = Plan(
        group="g",
        time_s=seen.time_s,
        policy="p",
        action=Action.HOLD,
        current=STANDING,
        target=STANDING,
        reason=Reason("as it is"),
    )
    receipt = Receipt(time_s=seen.time_s, action=Action.HOLD)
    return Decision(tick=0, snapshot=seen, workload=workload, plan=plan, receipt=receipt)


PAST = [decision(snapshot(float(t), [10.0 * t, 0.0], [0.0, 0.0])) for t in range(5)]


def test_the_basis_says_which_position_counts() -> None:
    now = snapshot(5.0, [50.0, 0.0], [20.0, 0.0], processed_events=[40.0, 0.0])
    assert lag_time_s(now, PAST).tolist() == [3.0, 0.0]
    assert lag_time_s(now, PAST, basis=LagBasis.PROCESSED).tolist() == [1.0, 0.0]


def test_a_position_that_is_not_reported_is_at_least_what_was_committed() -> None:
    now = snapshot(5.0, [50.0, 0.0], [20.0, 0.0], processed_events=[np.nan, 0.0], lag_basis=LagBasis.PROCESSED)
    assert lag_time_s(now, PAST).tolist() == [3.0, 0.0]


def test_what_retention_deleted_is_no_lag() -> None:
    assert lag_time_s(snapshot(5.0, [50.0, 0.0], [0.0, 0.0], start_events=[45.0, 0.0]), PAST)[0] == pytest.approx(0.5)
    assert lag_time_s(snapshot(5.0, [50.0, 0.0], [0.0, 0.0], start_events=[50.0, 0.0]), PAST)[0] == 0.0
    unknown_start = snapshot(5.0, [50.0, 0.0], [20.0, 0.0], start_events=[np.nan, np.nan])
    assert lag_time_s(unknown_start, PAST).tolist() == [3.0, 0.0]


def test_unknown_offsets_are_an_unknown_lag_and_the_first_look_has_an_answer() -> None:
    assert np.isnan(lag_time_s(snapshot(5.0, [np.nan, 0.0], [0.0, 0.0]), PAST)[0])
    assert lag_time_s(snapshot(5.0, [50.0, 0.0], [0.0, 0.0]), []).tolist() == [0.0, 0.0]
