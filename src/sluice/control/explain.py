"""Why a decision was taken: as plain data for machines, as plain words for people."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sluice.model import NOBODY, Action, Candidate, Decision, Move, Plan, Reason

# Simulated times begin at 0, live ones are those since 1970: no simulation lasts thirty years.
_LIVE_SINCE_S = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionInput:
    """What was known of one partition."""

    partition: str
    owner: str | None
    arrival_eps: float | None
    lag_events: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the plan was made from. None is unknown."""

    arrival_eps: float | None
    lag_events: float | None
    service_eps: float | None
    rebalance_s: float | None
    settled: bool
    objective_latency_s: float | None
    objective_sla_ratio: float | None
    partitions: tuple[PartitionInput, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """Something else that could have been done."""

    name: str
    consumers: int
    why_not: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """What another policy would have done."""

    policy: str
    action: str
    consumers: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One decision, told."""

    tick: int
    time_s: float
    group: str
    policy: str
    action: str
    consumers_now: int
    consumers_planned: int
    reason: str
    numbers: dict[str, float | int | str]
    guard: str | None
    inputs: Inputs
    candidates: tuple[Option, ...]
    moves: tuple[str, ...]
    warnings: tuple[str, ...]
    expected_utilisation: float | None
    expected_latency_s: float | None
    done: str
    complete: bool
    shadows: tuple[Shadow, ...]


def explain(decision: Decision) -> Explanation:
    """Everything the journal knows of why."""
    plan, receipt = decision.plan, decision.receipt
    prediction = plan.prediction
    return Explanation(
        tick=decision.tick,
        time_s=decision.time_s,
        group=decision.group,
        policy=plan.policy,
        action=plan.action.value,
        consumers_now=plan.current.count,
        consumers_planned=plan.target.count,
        reason=_told(plan.reason),
        numbers=dict(plan.reason.numbers),
        guard=plan.guard,
        inputs=_inputs(decision),
        candidates=tuple(_option(candidate) for candidate in plan.rejected),
        moves=tuple(_move(move) for move in plan.current.moves(plan.target)),
        warnings=tuple(_told(warning) for warning in plan.warnings),
        expected_utilisation=prediction.utilisation if prediction else None,
        expected_latency_s=prediction.worst_latency_s if prediction else None,
        done=receipt.problem or _done(decision),
        complete=receipt.complete,
        shadows=tuple(_shadow(shadow) for shadow in decision.shadows),
    )


def when(time_s: float) -> str:
    """Of a live decision the date, of a simulated one the seconds since its beginning."""
    if time_s < _LIVE_SINCE_S:
        return f"{time_s:g} s"
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M:%S} UTC"


def in_words(told: Explanation) -> str:
    """The explanation as a few lines for a person."""
    now, planned = told.consumers_now, told.consumers_planned
    change = f"{now} → {planned} consumers" if planned != now else f"{now} consumer{'s' * (now != 1)}"
    lines = [
        f"tick {told.tick} at {when(told.time_s)}, group {told.group}, {told.policy}: {told.action.upper()}, {change}",
        f"  why     {told.reason}",
    ]
    if told.guard:
        lines.append(f"  guard   {told.guard} overruled the policy")
    lines.append(f"  saw     {_seen(told.inputs)}")
    lines += [f"  not     {o.name} ({o.consumers} consumers): {o.why_not}" for o in told.candidates]
    if told.moves:
        lines.append(f"  moves   {', '.join(told.moves)}")
    if told.expected_utilisation is not None:
        latency = "" if told.expected_latency_s is None else f", worst latency {told.expected_latency_s:.3g} s"
        lines.append(f"  expects busiest consumer {told.expected_utilisation:.0%} busy{latency}")
    lines.append(f"  done    {told.done}{'' if told.complete else ' (not complete; the next tick tries again)'}")
    lines += [f"  warning {warning}" for warning in told.warnings]
    lines += [f"  shadow  {s.policy}: {s.action.upper()}, {s.consumers} consumers: {s.reason}" for s in told.shadows]
    return "\n".join(lines)


def _inputs(decision: Decision) -> Inputs:
    workload, objective = decision.workload, decision.objective
    assignment = workload.assignment
    rates, lags = workload.arrival_eps.tolist(), workload.lag_events.tolist()
    return Inputs(
        arrival_eps=_known(sum(rates)),
        lag_events=_known(sum(lags)),
        service_eps=workload.service_eps,
        rebalance_s=workload.rebalance_s,
        settled=workload.settled,
        objective_latency_s=objective.latency_s if objective else None,
        objective_sla_ratio=objective.sla_ratio if objective else None,
        partitions=tuple(
            PartitionInput(
                partition=str(partition),
                owner=assignment.consumers[owner] if owner != NOBODY else None,
                arrival_eps=_known(rate),
                lag_events=_known(lag),
            )
            for partition, owner, rate, lag in zip(
                assignment.partitions, assignment.owner.tolist(), rates, lags, strict=True
            )
        ),
    )


def _seen(inputs: Inputs) -> str:
    count = len(inputs.partitions)
    parts = [
        f"{count} partition{'s' * (count != 1)}",
        _number(inputs.arrival_eps, "events/s", "arrival rate"),
        _number(inputs.lag_events, "events behind", "lag"),
        _number(inputs.service_eps, "events/s a consumer", "service rate"),
        _number(inputs.rebalance_s, "s a rebalance", "rebalance time"),
    ]
    if inputs.objective_latency_s is not None and inputs.objective_sla_ratio is not None:
        parts.append(f"{inputs.objective_sla_ratio:.4g} of events within {inputs.objective_latency_s:g} s promised")
    unknown = [p.partition for p in inputs.partitions if p.arrival_eps is None or p.lag_events is None]
    if unknown:
        parts.append(f"unknown: {_few(unknown)}")
    if not inputs.settled:
        parts.append("a change still under way")
    return ", ".join(parts)


def _done(decision: Decision) -> str:
    receipt, action = decision.receipt, decision.receipt.action
    if action is Action.HOLD:
        return "nothing" if decision.plan.action is Action.HOLD else "nothing: the plan was advice only"
    parts = [action.value]
    if receipt.started:
        parts.append(f"started {_few(receipt.started)}")
    if receipt.stopped:
        parts.append(f"stopped {_few(receipt.stopped)}")
    parts.append(f"{receipt.moved_count} partitions moved")
    if receipt.pause_s is not None:
        parts.append(f"they stood still for {receipt.pause_s:.3g} s")
    return ", ".join(parts)


def _option(candidate: Candidate) -> Option:
    return Option(name=candidate.name, consumers=candidate.consumers, why_not=_told(candidate.why_not))


def _shadow(plan: Plan) -> Shadow:
    return Shadow(policy=plan.policy, action=plan.action.value, consumers=plan.target.count, reason=_told(plan.reason))


def _move(move: Move) -> str:
    return f"{move.partition} {move.source or 'nobody'} → {move.target or 'nobody'}"


def _told(reason: Reason) -> str:
    try:
        return str(reason)
    except (KeyError, ValueError, IndexError, TypeError):
        # A journal may hold a null where a number was unknown; the sentence is then shown with its numbers apart.
        return f"{reason.template} {dict(reason.numbers)}"


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: float | None, unit: str, name: str) -> str:
    return f"{name} unknown" if value is None else f"{value:.6g} {unit}"


def _few(names: Iterable[str], most: int = 8) -> str:
    known = list(names)
    return ", ".join(known[:most]) + (f" and {len(known) - most} more" if len(known) > most else "")
