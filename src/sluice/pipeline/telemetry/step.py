"""One batch: from the state before to the state after, and the rows that are final now. Pure."""

from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from sluice.pipeline.telemetry import arrivals, keys
from sluice.pipeline.telemetry.consumers import Reports
from sluice.pipeline.telemetry.facts import FACTS
from sluice.pipeline.telemetry.spec import TelemetrySpec
from sluice.pipeline.telemetry.watermark import Watermarks, heads_of, table_of_heads

QUARANTINE = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("time_s", pa.float64()),
        ("problem", pa.string()),
        ("record", pa.string()),
    ]
)
"""`record` is the text of a report; an event can be read again at its offset."""
WINDOWS = arrivals.WINDOWS.append(pa.field("lag_events", pa.int64()))
"""Lag is what is known when the window is over: events that came in it and are not yet reported as committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a later batch needs of all batches before; None at the very beginning.

    It grows with the partitions, the consumers and the windows that are open, never with the events.
    """

    heads: pa.Table | None = None
    seconds: pa.Table | None = None
    keys: pa.Table | None = None
    last_reports: pa.Table | None = None
    consumers: pa.Table | None = None

    @staticmethod
    def names() -> tuple[str, ...]:
        return tuple(f.name for f in fields(State))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a batch came to: the next state, and final rows by table of the lake."""

    state: State
    final: dict[str, pa.Table]


def take_step(state: State, facts: pa.Table, clock_s: float, spec: TelemetrySpec) -> Step:
    """`facts` are FACTS of one batch; the records of a partition never come in two rows of it."""
    rows = facts.cast(FACTS).to_pylist()
    reports = Reports.resumed(state.consumers, state.last_reports, clock_s + spec.max_ahead_s, spec)
    for row in rows:
        if row["topic"] in spec.report_topics:
            row["newest_s"] = reports.read(row["topic"], row["partition"], row["reports"], row["newest_s"])
    before = heads_of(state.heads)
    after = before | {(row["topic"], row["partition"]): (row["newest_s"], row["next_offset"]) for row in rows}
    marks = Watermarks(before, after, spec.delay_s)

    seconds = arrivals.seconds_after(state.seconds, _nested(rows, "seconds"))
    over, open_seconds = arrivals.closing_seconds(seconds, marks, spec)
    windows = arrivals.closing_windows(seconds, marks, spec)
    hot, open_keys = keys.closing_keys(keys.keys_after(state.keys, _nested(rows, "keys")), marks, spec)
    bad = pa.Table.from_pylist([*_nested(rows, "bad"), *reports.bad], schema=QUARANTINE)
    final = {
        "seconds": over,
        "windows": windows.append_column(WINDOWS.field("lag_events"), _lag(windows, reports)),
        "hot_keys": hot,
        "consumers": reports.closing(marks),
        "quarantine": bad,
    }
    return Step(
        state=State(
            heads=table_of_heads(after),
            seconds=open_seconds,
            keys=open_keys,
            last_reports=reports.last_reports(),
            consumers=reports.open_windows(marks),
        ),
        final={name: table for name, table in final.items() if len(table)},
    )


def _nested(rows: list[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """The entries of a list column, each with its partition."""
    return [{"topic": row["topic"], "partition": row["partition"], **entry} for row in rows for entry in row[column]]


def _lag(windows: pa.Table, reports: Reports) -> pa.Array:
    committed: dict[tuple[str, int], int] = {}
    for _, _, report in reports.last.values():
        for partition, offset in report.committed.items():
            committed[partition] = max(offset, committed.get(partition, 0))
    places = zip(*(windows.column(name).to_pylist() for name in ("topic", "partition", "next_offset")), strict=True)
    lag = [max(end - committed[topic, p], 0) if (topic, p) in committed else None for topic, p, end in places]
    return pa.array(lag, type=pa.int64())
