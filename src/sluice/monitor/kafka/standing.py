"""Who owns which partition, and whether that is certain."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sluice.model import Assignment, ConsumerReports, Partition
from sluice.model.telemetry import Telemetry
from sluice.model.values import FloatArray, floats, frozen
from sluice.monitor.kafka.reports import Heard


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """`settled` is False while the assignment is about to change or not certain."""

    assignment: Assignment
    settled: bool


def carried_over(last: Assignment, partitions: tuple[Partition, ...]) -> Assignment:
    """The last assignment known, for the partitions there are now."""
    if last.partitions == partitions:
        return last
    there = set(partitions)
    kept = {name: [p for p in held if p in there] for name, held in last.owned().items()}
    return Assignment.of(kept, partitions=partitions)


def reported_standing(heard: Mapping[str, Heard], partitions: tuple[Partition, ...]) -> Assignment:
    """The assignment by the consumers' reports; of two that claim a partition the later command counts."""
    ours = set(partitions)
    best: dict[Partition, tuple[int, float, str]] = {}
    for name, each in heard.items():
        claim = (each.report.epoch, each.report.time_s, name)
        for partition in each.report.positions:
            if partition in ours and (partition not in best or claim > best[partition]):
                best[partition] = claim
    owned: dict[str, list[Partition]] = {name: [] for name in sorted(heard)}
    for partition in sorted(best):
        owned[best[partition][2]].append(partition)
    return Assignment.of(owned, partitions=partitions)


def consumer_reports(heard: Mapping[str, Heard], assignment: Assignment) -> ConsumerReports | None:
    """The reports in the assignment's order of consumers, NaN for a silent one; None when nobody has ever reported."""
    if not heard:
        return None
    reports: list[Telemetry | None] = [heard[name].report if name in heard else None for name in assignment.consumers]

    def column(name: str) -> FloatArray:
        return floats([np.nan if report is None else getattr(report, name) for report in reports])

    return ConsumerReports.of(
        processed_events=column("processed_events"),
        emitted_events=column("emitted_events"),
        busy_s=column("busy_s"),
        busy_s2=column("busy_s2"),
        latency_s=column("latency_s"),
        gap_s=column("gap_s"),
        gap_s2=column("gap_s2"),
        batches=column("batches"),
        latency=tuple(None if report is None else report.latency for report in reports),
    )


def processed_positions(heard: Mapping[str, Heard], assignment: Assignment, committed: FloatArray) -> FloatArray | None:
    """Each owner's next position, or its commit where that is further (it has not begun); NaN without a report."""
    if not heard:
        return None
    found = np.full(len(assignment.partitions), np.nan)
    for i, (partition, owner) in enumerate(zip(assignment.partitions, assignment.owner.tolist(), strict=True)):
        each = heard.get(assignment.consumers[owner]) if owner >= 0 else None
        if each is not None and partition in each.report.positions:
            position = each.report.positions[partition]
            found[i] = committed[i] if position is None else np.fmax(position, committed[i])
    # Nobody works on a partition without an owner: what is committed is all that is done.
    return frozen(np.where(assignment.owner < 0, committed, found))


def ownership_history(
    heard: Mapping[str, Heard], assignment: Assignment
) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
    """From which event on, and since when, each owner reads; NaN where it has not said so, None when nobody reports."""
    if not heard:
        return None, None
    from_events, since_s = (np.full(len(assignment.partitions), np.nan) for _ in range(2))
    for i, (partition, owner) in enumerate(zip(assignment.partitions, assignment.owner.tolist(), strict=True)):
        each = heard.get(assignment.consumers[owner]) if owner >= 0 else None
        begun = each.report.begun.get(partition) if each is not None else None
        if begun is not None and begun.from_event is not None:
            from_events[i], since_s[i] = begun
    return frozen(from_events), frozen(since_s)


def newest(heard: Mapping[str, Heard], name: str) -> float | None:
    """The field of the latest report that has it: pause and start-up times stay what they were until measured again."""
    for each in sorted(heard.values(), key=lambda h: h.report.time_s, reverse=True):
        value = getattr(each.report, name)
        if value is not None:
            return float(value)
    return None
