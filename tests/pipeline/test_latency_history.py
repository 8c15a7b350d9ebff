"""The assignment history of a live journal: its first ticks know nothing of it yet."""

import pytest
from msgspec.structs import replace

from sluice.errors import InputError
from sluice.model import (
    Action,
    Assignment,
    Decision,
    Partition,
    Plan,
    Reason,
    Receipt,
    Snapshot,
    Workload,
)
from sluice.model.values import floats
from sluice.pipeline.latency.history import TO_THE_END, Segment, history_of

P = Partition("t", 0)


def decision(time_s: float, owner: str, begun: tuple[float, float] | None) -> Decision:
    assignment = Assignment.of({owner: [P]})
    snapshot = Snapshot(
        group="g",
        time_s=time_s,
        assignment=assignment,
        end_events=floats([9]),
        committed_events=floats([0]),
    )
    if begun is not None:
        snapshot = replace(snapshot, owned_from_events=floats([begun[0]]), owned_since_s=floats([begun[1]]))
    workload = Workload(
        group="g", time_s=time_s, assignment=assignment, arrival_eps=floats([1]), lag_events=floats([0])
    )
    plan = Plan(
        group="g",
        time_s=time_s,
        policy="hold",
        action=Action.HOLD,
        current=assignment,
        target=assignment,
        reason=Reason("test"),
    )
    receipt = Receipt(time_s=time_s, action=Action.HOLD, complete=True)
    return Decision(tick=0, snapshot=snapshot, workload=workload, plan=plan, receipt=receipt)


NAN = float("nan")


def test_ticks_that_do_not_know_it_are_passed_over() -> None:
    journal = [
        decision(1.0, "c0", None),
        decision(2.0, "c0", (NAN, NAN)),
        decision(3.0, "c0", (0.0, 1.5)),
        decision(4.0, "c1", (NAN, NAN)),
        decision(5.0, "c1", (7.0, 4.2)),
    ]
    assert history_of(journal) == (Segment("c0", 0, 0, 7, 1.5), Segment("c1", 0, 7, TO_THE_END, 4.2))


def test_a_journal_that_never_knows_it_is_refused() -> None:
    with pytest.raises(InputError, match=r"snapshot at 1\.0 s does not say from where each owner reads"):
        history_of([decision(1.0, "c0", None), decision(2.0, "c0", None)])
