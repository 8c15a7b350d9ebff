"""The groups as the stream last saw them, for a controller that uses it as its monitor."""

import numpy as np

from sluice.model import Partition, Snapshot
from sluice.model.telemetry import Telemetry
from sluice.model.values import floats
from sluice.monitor.kafka.reports import Heard
from sluice.monitor.kafka.standing import consumer_reports, newest, processed_positions, reported_standing
from sluice.pipeline.telemetry.spec import TelemetrySpec, WatchedGroup
from sluice.pipeline.telemetry.step import State
from sluice.pipeline.telemetry.watermark import Heads, heads_of

LEASE_S = 10.0
"""A consumer whose last report is this much older than the group's newest is gone."""


def snapshots(state: State, clock_s: float, spec: TelemetrySpec) -> tuple[Snapshot, ...]:
    """One for each group of which any partition is known."""
    heads = heads_of(state.heads)
    records = [] if state.last_reports is None else state.last_reports.column("record").to_pylist()
    reports = [Telemetry.from_wire(record.encode()) for record in records]
    made = (_snapshot(g, heads, [r for r in reports if r.group == g.group], clock_s) for g in spec.groups)
    return tuple(snapshot for snapshot in made if snapshot is not None)


def _snapshot(group: WatchedGroup, heads: Heads, reports: list[Telemetry], clock_s: float) -> Snapshot | None:
    heard = _heard(reports)
    seen = {Partition(topic, number) for topic, number in heads if topic in group.topics}
    owned = {partition for each in heard.values() for partition in each.report.positions}
    partitions = tuple(sorted(seen | {partition for partition in owned if partition.topic in group.topics}))
    if not partitions:
        return None
    assignment = reported_standing(heard, partitions)
    committed = np.full(len(partitions), np.nan)
    for each in heard.values():
        for i, partition in enumerate(partitions):
            committed[i] = np.fmax(committed[i], each.report.committed.get(partition, np.nan))
    return Snapshot(
        group=group.group,
        time_s=clock_s,
        assignment=assignment,
        end_events=floats([heads[p][1] if p in heads else np.nan for p in partitions]),
        committed_events=floats(committed),
        processed_events=processed_positions(heard, assignment, committed),
        reports=consumer_reports(heard, assignment),
        pause_s=newest(heard, "pause_s"),
        startup_s=newest(heard, "startup_s"),
        # Someone who should be read by nobody: a change is under way, or its reports are still to come.
        settled=bool((assignment.owner >= 0).all()),
    )


def _heard(reports: list[Telemetry]) -> dict[str, Heard]:
    """The newest report of every consumer that is not gone."""
    latest_s = max((report.time_s for report in reports), default=0.0)
    heard: dict[str, Heard] = {}
    for report in sorted(reports, key=lambda r: r.time_s):
        if report.time_s > latest_s - LEASE_S:
            heard[report.consumer] = Heard(report, report.time_s)
    return heard
