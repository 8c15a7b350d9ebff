"""Which keys are hot: the most frequent ones of each partition, from sketches of bounded size."""

from typing import Any

import pyarrow as pa
from datasketches import frequent_items_error_type, frequent_strings_sketch

from sluice.pipeline.telemetry.spec import TelemetrySpec
from sluice.pipeline.telemetry.watermark import Watermarks

OPEN_KEYS = pa.schema(
    [("topic", pa.string()), ("partition", pa.int32()), ("end_s", pa.int64()), ("sketch", pa.binary())]
)
HOT_KEYS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("start_s", pa.int64()),
        ("end_s", pa.int64()),
        ("key", pa.string()),
        ("events", pa.int64()),
        ("share_ratio", pa.float64()),
    ]
)
"""`events` is never below the true number; `share_ratio` is of the partition's events that have a key."""


def keys_after(open_keys: pa.Table | None, fresh: list[dict[str, Any]]) -> pa.Table:
    """A sketch an open window, what a batch adds merged in."""
    merged: dict[tuple[str, int, int], bytes] = {}
    for row in [*([] if open_keys is None else open_keys.to_pylist()), *fresh]:
        place = (row["topic"], row["partition"], row["end_s"])
        merged[place] = _both(merged[place], row["sketch"]) if place in merged else row["sketch"]
    rows = [dict(zip(OPEN_KEYS.names, (*place, sketch), strict=True)) for place, sketch in merged.items()]
    return pa.Table.from_pylist(rows, schema=OPEN_KEYS)


def closing_keys(keys: pa.Table, marks: Watermarks, spec: TelemetrySpec) -> tuple[pa.Table, pa.Table]:
    """(the hot keys of windows that are over now, sketches of open windows)."""
    rows = keys.to_pylist()
    hot = [
        {**row, "start_s": row["end_s"] - spec.window_s, "key": key, "events": events, "share_ratio": events / total}
        for row in rows
        if marks.closed_now((row["topic"], row["partition"]), row["end_s"])
        for key, events, total in _top(row["sketch"], spec.top_keys)
    ]
    still = [row for row in rows if marks.is_open((row["topic"], row["partition"]), row["end_s"])]
    return pa.Table.from_pylist(hot, schema=HOT_KEYS), pa.Table.from_pylist(still, schema=OPEN_KEYS)


def _both(left: bytes, right: bytes) -> bytes:
    whole = frequent_strings_sketch.deserialize(left)
    whole.merge(frequent_strings_sketch.deserialize(right))
    return bytes(whole.serialize())


def _top(sketch: bytes, count: int) -> list[tuple[str, int, int]]:
    """(key, events, events of all keys), the most frequent first."""
    opened = frequent_strings_sketch.deserialize(sketch)
    found = opened.get_frequent_items(frequent_items_error_type.NO_FALSE_NEGATIVES)
    ranked = sorted(((key, int(events)) for key, events, _, _ in found), key=lambda item: (-item[1], item[0]))
    return [(key, events, int(opened.total_weight)) for key, events in ranked[:count]]
