"""Contexts for the tests: a builder with plain defaults, and a Hypothesis strategy for any group there can be."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from sluice.model import (
    Action,
    Assignment,
    Candidate,
    Decision,
    Objective,
    Partition,
    Plan,
    Reason,
    Receipt,
    Snapshot,
    Stage,
    Topology,
    Workload,
)
from sluice.model.values import floats, ints
from sluice.plan.base import PlanContext


def assignment(owner: Sequence[int], consumers: int, topics: int = 1) -> Assignment:
    size = -(-len(owner) // topics)
    partitions = tuple(Partition(f"t{i // size}", i % size) for i in range(len(owner)))
    return Assignment(partitions=partitions, consumers=tuple(f"c{i}" for i in range(consumers)), owner=ints(owner))


def workload(
    rate: Sequence[float],
    lag: Sequence[float] | None = None,
    *,
    owner: Sequence[int] | None = None,
    consumers: int = 1,
    **more: Any,
) -> Workload:
    """μ = 200 events/s, one consumer that owns all, no lag; `more` replaces any field."""
    fields: dict[str, Any] = {
        "group": "g",
        "time_s": 1000.0,
        "assignment": assignment(owner if owner is not None else [0] * len(rate), consumers),
        "arrival_eps": floats(rate),
        "lag_events": floats(lag if lag is not None else [0.0] * len(rate)),
        "service_eps": 200.0,
    }
    return Workload(**{**fields, **more})


def context(load: Workload, *, latency_s: float = 0.5, recent: Sequence[Decision] = (), **more: Any) -> PlanContext:
    return PlanContext(workload=load, objective=Objective(latency_s=latency_s), recent=recent, **more)


def decision(
    load: Workload,
    time_s: float,
    *,
    action: Action = Action.HOLD,
    done: Action | None = None,
    guard: str | None = None,
    wanted: Action | None = None,
) -> Decision:
    """A past tick that planned `action` and did `done`; `wanted` is what `guard` overruled."""
    rejected = (Candidate(name=wanted.value, consumers=1, why_not=Reason("held")),) if wanted is not None else ()
    at = load.assignment
    plan = Plan(
        group=load.group,
        time_s=time_s,
        policy="past",
        action=action,
        current=at,
        target=at,
        reason=Reason("past"),
        rejected=rejected,
        guard=guard,
    )
    blank = floats(np.full(len(at.partitions), np.nan))
    snapshot = Snapshot(group=load.group, time_s=time_s, assignment=at, end_events=blank, committed_events=blank)
    receipt = Receipt(time_s=time_s, action=done if done is not None else action)
    return Decision(tick=int(time_s), snapshot=snapshot, workload=load, plan=plan, receipt=receipt)


# A stage before the group that writes one of its topics; the other one is written from outside.
FED = Topology(
    stages=(Stage(name="up", inputs=("in",), outputs=("t0",)), Stage(name="g", inputs=("t0", "t1"))),
    sources=("in", "t1"),
)


def positive(most: float) -> st.SearchStrategy[float]:
    return st.one_of(st.just(0.0), st.floats(1e-3, most))


@st.composite
def contexts(draw: st.DrawFn, *, known: bool = True) -> PlanContext:
    """Any group at any load: empty, orphaned, crowded, shared, at rest or just changed. `known`: nothing is missing."""
    n = draw(st.integers(1, 12))
    consumers = draw(st.integers(0, n + 2))
    kind = draw(st.sampled_from(("owned", "owned", "owned", "orphaned", "nobody")))
    lowest = 0 if kind == "owned" and consumers else -1
    highest = consumers - 1 if kind != "nobody" else -1
    owner = draw(st.lists(st.integers(lowest, highest), min_size=n, max_size=n))

    def per_partition(most: float) -> Any:
        number = positive(most) if known else st.one_of(positive(most), st.just(np.nan))
        return floats(draw(st.lists(number, min_size=n, max_size=n)))

    def maybe(strategy: st.SearchStrategy[float]) -> st.SearchStrategy[float | None]:
        return strategy if known else st.one_of(strategy, st.none())

    time_s = 990.0  # a time at which everything that is done every 15 or 30 s is due
    now = Workload(
        group="g",
        time_s=time_s,
        assignment=assignment(owner, consumers, draw(st.integers(1, 2))),
        arrival_eps=per_partition(400.0),
        lag_events=per_partition(400.0),
        arrival_bps=per_partition(1e6),
        service_eps=draw(maybe(st.floats(1.0, 500.0))),
        service_cv=draw(maybe(positive(3.0))),
        arrival_cv=draw(maybe(positive(3.0))),
        selectivity=draw(maybe(positive(3.0))),
        latency_mean_s=draw(maybe(positive(10.0))),
        capacity_bps=draw(maybe(st.floats(1e3, 2e6))),
        rebalance_s=draw(st.one_of(st.none(), positive(3.0))),
        startup_s=draw(st.one_of(st.none(), positive(30.0))),
        settled=draw(st.sampled_from((True, True, True, False))),
    )
    recent = [
        decision(now, time_s - ticks, action=draw(st.sampled_from((Action.HOLD, Action.HOLD, Action.UP, Action.DOWN))))
        for ticks in range(draw(st.integers(0, 4)), 0, -1)
    ]
    fed = draw(st.sampled_from((None, None, FED)))
    upstream = Workload(
        group="up",
        time_s=time_s,
        assignment=Assignment(partitions=(Partition("in", 0),), consumers=("u0", "u1"), owner=ints([-1])),
        arrival_eps=floats([draw(positive(400.0))]),
        lag_events=floats([draw(positive(400.0))]),
        service_eps=draw(st.one_of(st.none(), st.floats(1.0, 500.0))),
        selectivity=draw(st.one_of(st.none(), positive(3.0))),
    )
    return context(
        now,
        latency_s=draw(st.floats(0.05, 5.0)),
        recent=recent,
        topology=fed,
        peers=None if fed is None else {"up": upstream, "g": now},
    )
