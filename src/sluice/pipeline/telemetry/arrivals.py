"""What arrives on each partition: whole seconds, and sliding windows made of them."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from sluice.pipeline.telemetry.spec import TelemetrySpec
from sluice.pipeline.telemetry.watermark import Watermarks

SECONDS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("second", pa.int64()),
        ("events", pa.int64()),
        ("bytes", pa.int64()),
        ("gaps", pa.int64()),
        ("gap_s", pa.float64()),
        ("gap_s2", pa.float64()),
        ("next_offset", pa.int64()),
    ]
)
"""One row a second of a partition. A gap is the time from the newest event before to an event; the first has none."""
WINDOWS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("start_s", pa.int64()),
        ("end_s", pa.int64()),
        ("events", pa.int64()),
        ("bytes", pa.int64()),
        ("arrival_eps", pa.float64()),
        ("arrival_bps", pa.float64()),
        ("peak_ratio", pa.float64()),
        ("arrival_cv", pa.float64()),
        ("next_offset", pa.int64()),
    ]
)
"""One row a window of a partition that had events in it."""
_LOG = ["topic", "partition"]
_SUMS = ("events", "bytes", "gaps", "gap_s", "gap_s2")


def seconds_after(open_seconds: pa.Table | None, fresh: list[dict[str, Any]]) -> pa.Table:
    """The open seconds with what a batch adds, a row a second."""
    added = pa.Table.from_pylist(fresh, schema=SECONDS)
    both = added if open_seconds is None else pa.concat_tables([open_seconds, added])
    sums = [(name, "sum") for name in _SUMS]
    merged = both.group_by([*_LOG, "second"]).aggregate([*sums, ("next_offset", "max")])
    names = {f"{name}_sum": name for name in _SUMS} | {"next_offset_max": "next_offset"}
    return merged.rename_columns([names.get(name, name) for name in merged.column_names]).select(SECONDS.names)


def closing_seconds(seconds: pa.Table, marks: Watermarks, spec: TelemetrySpec) -> tuple[pa.Table, pa.Table]:
    """(seconds that are over now, seconds still needed: windows to come are made of seconds that are over too)."""
    frame = seconds.to_pandas()
    end_s = frame["second"] + 1
    over = pa.array(marks.all_closed_now(frame, end_s))
    return seconds.filter(over), seconds.filter(pa.array(marks.all_needed(frame, end_s, spec.window_s)))


def closing_windows(seconds: pa.Table, marks: Watermarks, spec: TelemetrySpec) -> pa.Table:
    """The windows that are over now: rates, peak to mean, and how irregular the arrivals are."""
    frame: pd.DataFrame = seconds.to_pandas()
    # A second lies in the windows that end after it and at most a window's width later.
    first = (frame["second"] // spec.slide_s + 1) * spec.slide_s
    shifts = range(0, spec.window_s, spec.slide_s)
    spread = pd.concat([frame.assign(end_s=first + shift, peak=frame["events"]) for shift in shifts], ignore_index=True)
    over = spread[marks.all_closed_now(spread, spread["end_s"])]
    sums = over.groupby([*_LOG, "end_s"], as_index=False)[[*_SUMS]].sum()
    most = over.groupby([*_LOG, "end_s"], as_index=False)[["peak", "next_offset"]].max()
    gaps = sums["gaps"].where(sums["gaps"] > 1)
    mean_s = (sums["gap_s"] / gaps).where(sums["gap_s"] > 0)
    variance = (sums["gap_s2"] / gaps - mean_s**2).clip(lower=0.0)
    windows = sums.assign(
        start_s=sums["end_s"] - spec.window_s,
        arrival_eps=sums["events"] / spec.window_s,
        arrival_bps=sums["bytes"] / spec.window_s,
        peak_ratio=most["peak"] * spec.window_s / sums["events"],
        arrival_cv=np.sqrt(variance) / mean_s,
        next_offset=most["next_offset"],
    )
    return pa.Table.from_pandas(windows[list(WINDOWS.names)], schema=WINDOWS, preserve_index=False)
