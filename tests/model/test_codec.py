"""A decision survives JSON, unknown numbers included."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.model import (
    Action,
    Assignment,
    Candidate,
    ConsumerReports,
    Decision,
    LagBasis,
    Partition,
    Plan,
    Prediction,
    Reason,
    Receipt,
    Snapshot,
    Workload,
    replace,
)
from sluice.model.codec import decision_from_json, decision_to_json
from sluice.model.values import floats

PARTITIONS = tuple(Partition("pay-ments", i) for i in range(3))
NOW = Assignment.of({"c0": PARTITIONS})
THEN = Assignment.of({"c0": PARTITIONS[:2], "c1": PARTITIONS[2:]})


def decision(rates: list[float], lag: list[float]) -> Decision:
    reports = ConsumerReports.of(
        processed_events=floats([1.5]),
        emitted_events=floats([np.nan]),
        busy_s=floats([2.5]),
        busy_s2=floats([3.5]),
        latency_s=floats([4.5]),
        gap_s=floats([5.5]),
        gap_s2=floats([6.5]),
    )
    snapshot = Snapshot(
        group="g",
        time_s=12.5,
        assignment=NOW,
        end_events=floats(lag),
        committed_events=floats([0, 0, np.nan]),
        lag_basis=LagBasis.PROCESSED,
        reports=reports,
    )
    workload = Workload(group="g", time_s=12.5, assignment=NOW, arrival_eps=floats(rates), lag_events=floats(lag))
    why = Reason("{n} of {partitions} {what}", {"n": 3, "partitions": 5, "what": "partitions"})
    plan = Plan(
        group="g",
        time_s=12.5,
        policy="p",
        action=Action.UP,
        current=NOW,
        target=THEN,
        reason=why,
        rejected=(Candidate(name="stay", consumers=1, why_not=why),),
        guard="bounds",
        warnings=(why,),
        prediction=Prediction(utilisation=0.5),
    )
    receipt = Receipt(time_s=12.5, action=Action.UP, started=("c1",), moved_count=1, complete=False, problem="slow")
    return Decision(tick=7, snapshot=snapshot, workload=workload, plan=plan, receipt=receipt, shadows=(plan,))


numbers = st.lists(st.floats(0, 1e12) | st.just(float("nan")), min_size=3, max_size=3)


@given(rates=numbers, lag=numbers)
def test_round_trip(rates: list[float], lag: list[float]) -> None:
    original = decision(rates, lag)
    text = json.dumps(decision_to_json(original), allow_nan=False)
    back = decision_from_json(json.loads(text))
    assert back == original
    assert str(back.plan.reason) == "3 of 5 partitions"


def test_what_differs_is_not_equal() -> None:
    one = decision([1, 2, 3], [4, 5, 6])
    assert one != decision([1, 2, 4], [4, 5, 6])
    assert one != replace(one, tick=8)


def test_partitions_are_written_once() -> None:
    assert json.dumps(decision_to_json(decision([1, 2, 3], [4, 5, 6]))).count("pay-ments-2") == 1


@pytest.mark.parametrize("damage", [{"plan": None}, {"snapshot": {}}, {"partitions": ["no number"]}, {"tick": None}])
def test_damaged_data_is_refused_in_one_line(damage: dict[str, object]) -> None:
    data = decision_to_json(decision([1, 2, 3], [4, 5, 6])) | damage
    if damage == {"tick": None}:
        del data["tick"]
    with pytest.raises(InputError) as refused:
        decision_from_json(data)
    assert "\n" not in str(refused.value)
