"""The simulator's prediction for a live run, and both as rows of one table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

import numpy as np

from sluice.assembly.loop import build_loop, build_policy
from sluice.control.journal import Discard
from sluice.lab.live.load import Load
from sluice.lab.live.replay import Replayed
from sluice.lab.live.settings import Manner
from sluice.lab.outcome import outcome
from sluice.lab.row import Row
from sluice.model import Action, Decision
from sluice.sdk.managed_commit import INTERVAL_S
from sluice.settings.scenario import Scenario
from sluice.simulate import Protocol, Recorded, WorldSpec, simulate
from sluice.simulate.run import rscore_of

# Policies that look at the clock (every full quarter of a minute, say) see it as it was in the live run.
CLOCK_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Machinery:
    """What only the machine can say; None: there was no occasion."""

    pause_s: float | None
    """How long a moved partition stood still, median over the changes."""
    startup_s: tuple[float, float] | None
    """How long the slowest of the consumers that were started together took: least and most."""
    late_s: float
    """How much too late a tick came at worst,"""
    delayed_s: float
    """and an event to the broker: a burst takes its time, a busy machine takes more."""

    @classmethod
    def of(cls, run: Replayed) -> "Machinery":
        pauses, starts = _measured(run.decisions, "pause_s"), _measured(run.decisions, "startup_s")
        return cls(
            pause_s=median(pauses) if pauses else None,
            startup_s=(min(starts), max(starts)) if starts else None,
            late_s=run.late_s,
            delayed_s=run.delayed_s,
        )


def live_row(scenario: Scenario, policy: str, seed: int, run: Replayed) -> Row:
    """What was promised and not handled at all counts as late. A consumer costs from the decision that starts it on to
    the decision that ends it, as in the simulator."""
    latency_s = run.latency_s[np.isfinite(run.latency_s)]
    kept = int((latency_s <= scenario.objective.latency_s).sum())
    acted = [d for d in run.decisions if _begins_a_change(d)]
    actions = [d.plan.action for d in acted]
    sent = len(run.arrived_s)
    return Row(
        scenario=scenario.name,
        policy=policy,
        seed=seed,
        events=sent,
        sla_ratio=kept / sent if sent else 1.0,
        p50_s=float(np.quantile(latency_s, 0.5)) if len(latency_s) else float("nan"),
        p99_s=float(np.quantile(latency_s, 0.99)) if len(latency_s) else float("nan"),
        max_s=float(latency_s.max()) if len(latency_s) else float("nan"),
        replica_minutes=replica_seconds(run) / 60,
        clairvoyant_minutes=None,
        cost_ratio=None,
        up=actions.count(Action.UP),
        down=actions.count(Action.DOWN),
        reassign=actions.count(Action.REASSIGN),
        moved_partitions=sum(int(d.plan.current.moved(d.plan.target).sum()) for d in acted),
        rscore_mean=sum(rscore_of(d) for d in acted) / len(run.decisions),
    )


def replica_seconds(run: Replayed) -> float:
    """Consumers as commanded, over the time in which decisions were taken."""
    counts: list[int] = []
    for decision in run.decisions:
        if _begins_a_change(decision):
            counts.append(decision.plan.target.count)
        elif decision.snapshot.settled or not counts:
            counts.append(decision.snapshot.assignment.count)
        else:
            counts.append(counts[-1])  # under way: those who start are paid for, those who leave no more
    # The first tick finds the group as it was at the beginning, however late it came.
    edges = np.concatenate(([0.0], run.tick_s[1:], [run.duration_s]))
    return float(np.array(counts) @ np.diff(edges))


def _begins_a_change(decision: Decision) -> bool:
    """What is planned while the group is unsettled is not carried out."""
    return decision.acted and decision.snapshot.settled


def twin_row(
    scenario: Scenario,
    spec: WorldSpec,
    load: Load,
    policy: str,
    manner: Manner,
    seed: int,
    run: Replayed,
    *,
    shift_s: float = 0.0,
) -> Row:
    """The same policy in the simulator, with what it cannot know taken from the run.

    That is when the events came to the broker, when the loop ticked (`shift_s` later, but for the first), how long a
    moved partition stood still and how long a consumer took to start. How long events wait, what is seen of it and what
    is decided is the simulator's own.
    """
    machinery = Machinery.of(run)
    group, clock_s = spec.groups[0], run.start_s % CLOCK_S
    rounds = 2 if manner.protocol is Protocol.COOPERATIVE else 1
    world = replace(
        spec,
        duration_s=clock_s + spec.duration_s,
        sources=tuple(
            replace(
                source,
                arrivals=Recorded(
                    time_s=clock_s + run.arrived_s[load.topic == number],
                    partition=load.partition[load.topic == number],
                    size_bytes=load.size_bytes[load.topic == number].astype(np.float64),
                ),
            )
            for number, source in enumerate(spec.sources)
        ),
        groups=(
            replace(
                group,
                protocol=manner.protocol,
                finish_batch=False,
                commit_s=INTERVAL_S if manner.mode == "managed" else 0.0,
                rebalance_s=group.rebalance_s if machinery.pause_s is None else machinery.pause_s / rounds,
                startup_s=group.startup_s if machinery.startup_s is None else machinery.startup_s,
                heartbeat_s=manner.heartbeat_s,
            ),
        ),
    )
    made = build_loop(scenario, build_policy(scenario, policy), Discard())
    tick_s = clock_s + run.tick_s
    tick_s[1:] += shift_s
    results = simulate(world, seed=seed, make_loop=made, exact=True, tick_s=tick_s.tolist())
    return outcome(world, results, scenario=scenario.name, policy=policy, seed=seed, bound=None).row


def _measured(decisions: Sequence[Decision], name: str) -> list[float]:
    """By the receipts; where the executor does not see it, by the consumers' own reports, each value once."""
    told = [value for d in decisions if (value := getattr(d.receipt, name)) is not None]
    seen = [getattr(d.snapshot, name) for d in decisions]
    return told or [after for before, after in pairwise(seen) if after is not None and after != before]
