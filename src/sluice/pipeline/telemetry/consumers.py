"""What consumers did: differences of their counters, and how their latencies are spread."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from datasketches import kll_doubles_sketch

from sluice.errors import InputError
from sluice.model.sketch import GROWTH, SMALLEST_S, LatencySketch
from sluice.model.telemetry import COUNTERS, Telemetry
from sluice.model.values import FloatArray
from sluice.pipeline.telemetry.facts import AHEAD, LATE
from sluice.pipeline.telemetry.order import in_order
from sluice.pipeline.telemetry.spec import TelemetrySpec
from sluice.pipeline.telemetry.watermark import Watermarks

KLL_SIZE = 200
"""Rank error of a quantile about 1.3 %; the sketches are those of Spark's own kll functions, which merge them."""
QUANTILES = (0.5, 0.95, 0.99)
_COUNTED = [(name, pa.float64()) for name in COUNTERS]
OPEN_CONSUMERS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("group", pa.string()),
        ("consumer", pa.string()),
        ("end_s", pa.int64()),
        *_COUNTED,
        ("latency_kll", pa.binary()),
    ]
)
LAST_REPORTS = pa.schema([("topic", pa.string()), ("partition", pa.int32()), ("record", pa.string())])
"""The newest report of every run of a consumer: what the next one is compared with."""
CONSUMERS = pa.schema(
    [
        ("group", pa.string()),
        ("consumer", pa.string()),
        ("start_s", pa.int64()),
        ("end_s", pa.int64()),
        *_COUNTED,
        ("service_eps", pa.float64()),
        ("service_cv", pa.float64()),
        ("latency_mean_s", pa.float64()),
        *((f"latency_p{ratio * 100:g}_s", pa.float64()) for ratio in QUANTILES),
        ("sla_ratio", pa.float64()),
        ("latency_kll", pa.binary()),
    ]
)
REPORT_MEMORY_S = 3600.0
"""A run that has not reported for this long of its log's time has ended."""


class Run(NamedTuple):
    """One life of a consumer."""

    group: str
    consumer: str
    run: str


class _Window(NamedTuple):
    topic: str
    partition: int
    group: str
    consumer: str
    end_s: int


@dataclass(slots=True)
class Reports:
    """Reads reports in the order of their log."""

    spec: TelemetrySpec
    latest_s: float
    last: dict[Run, tuple[str, int, Telemetry]]
    counters: dict[_Window, FloatArray]
    sketches: dict[_Window, kll_doubles_sketch]
    bad: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def resumed(
        cls, open_consumers: pa.Table | None, last: pa.Table | None, latest_s: float, spec: TelemetrySpec
    ) -> "Reports":
        """Where the state left off."""
        known = [] if last is None else last.to_pylist()
        reports = [(row["topic"], row["partition"], Telemetry.from_wire(row["record"].encode())) for row in known]
        rows = [] if open_consumers is None else open_consumers.to_pylist()
        windows = [_Window(*(row[name] for name in _Window._fields)) for row in rows]
        return cls(
            spec=spec,
            latest_s=latest_s,
            last={_run(report): (topic, partition, report) for topic, partition, report in reports},
            counters={w: np.array([row[c] for c in COUNTERS]) for w, row in zip(windows, rows, strict=True)},
            sketches={
                w: kll_doubles_sketch.deserialize(row["latency_kll"])
                for w, row in zip(windows, rows, strict=True)
                if row["latency_kll"] is not None
            },
        )

    def read(self, topic: str, partition: int, rows: Iterable[Mapping[str, Any]], newest_s: float) -> float:
        """Add what one partition's log says; returns its newest time."""
        group = next(g.group for g in self.spec.groups if g.reports_topic == topic)
        parsed = []
        for row in rows:
            report = self._parsed(row, topic, partition, group)
            if report is not None:
                parsed.append((row["offset"], row["record"], report))
        order = in_order(
            np.array([report.time_s for _, _, report in parsed], dtype=np.float64),
            newest_s,
            delay_s=self.spec.delay_s,
            latest_s=self.latest_s,
        )
        for i, (offset, record, report) in enumerate(parsed):
            if order.ahead[i] or order.late[i]:
                self._refuse(topic, partition, offset, report.time_s, AHEAD if order.ahead[i] else LATE, record)
            else:
                self._add(topic, partition, offset, record, report)
        return order.newest_s

    def open_windows(self, marks: Watermarks) -> pa.Table:
        """For the state: OPEN_CONSUMERS that are not over."""
        rows = [
            window._asdict()
            | dict(zip(COUNTERS, values.tolist(), strict=True))
            | {"latency_kll": bytes(self.sketches[window].serialize()) if window in self.sketches else None}
            for window, values in self.counters.items()
            if marks.is_open((window.topic, window.partition), window.end_s)
        ]
        return pa.Table.from_pylist(rows, schema=OPEN_CONSUMERS)

    def last_reports(self) -> pa.Table:
        """For the state: LAST_REPORTS of the runs that have not ended."""
        newest_s = max((report.time_s for _, _, report in self.last.values()), default=0.0)
        rows = [
            {"topic": topic, "partition": partition, "record": report.to_wire().decode()}
            for topic, partition, report in self.last.values()
            if report.time_s > newest_s - REPORT_MEMORY_S
        ]
        return pa.Table.from_pylist(rows, schema=LAST_REPORTS)

    def closing(self, marks: Watermarks) -> pa.Table:
        """CONSUMERS: the windows that are over now."""
        rows = [
            _final(window, values, self.sketches.get(window), self.spec)
            for window, values in self.counters.items()
            if marks.closed_now((window.topic, window.partition), window.end_s)
        ]
        return pa.Table.from_pylist(rows, schema=CONSUMERS)

    def _parsed(self, row: Mapping[str, Any], topic: str, partition: int, group: str) -> Telemetry | None:
        try:
            report = Telemetry.from_wire((row["record"] or "").encode())
            if report.group != group:
                raise InputError(f"report of group {report.group!r} in the topic of {group!r}")
            if not np.isfinite(report.time_s):
                raise InputError("report without a time")
        except InputError as error:
            self._refuse(topic, partition, row["offset"], None, str(error), row["record"])
            return None
        return report

    def _add(self, topic: str, partition: int, offset: int, record: str, report: Telemetry) -> None:
        run = _run(report)
        _, _, before = self.last.get(run, (topic, partition, None))
        step = np.array([getattr(report, c) - (getattr(before, c) if before else 0.0) for c in COUNTERS])
        try:
            spread = report.latency.minus(before.latency if before else LatencySketch.empty())
            if (step < 0).any():
                raise InputError(f"counter {COUNTERS[int(np.argmax(step < 0))]} went down within one run")
        except InputError as error:
            self._refuse(topic, partition, offset, report.time_s, str(error), record)
            return
        end_s = (int(report.time_s // self.spec.slide_s) + 1) * self.spec.slide_s
        window = _Window(topic, partition, report.group, report.consumer, end_s)
        self.counters[window] = self.counters.get(window, 0.0) + step
        if spread.total:
            # A latency is known up to its bucket: it stands for the bucket's middle.
            middle_s = SMALLEST_S * GROWTH ** (spread.bucket - 0.5)
            sketch = self.sketches.setdefault(window, kll_doubles_sketch(KLL_SIZE))
            sketch.update(np.repeat(middle_s, spread.count))
        self.last[run] = (topic, partition, report)

    def _refuse(
        self, topic: str, partition: int, offset: int, time_s: float | None, problem: str, record: str | None
    ) -> None:
        place = {"topic": topic, "partition": partition, "offset": offset}
        self.bad.append({**place, "time_s": time_s, "problem": problem, "record": record})


def _final(
    window: _Window, values: FloatArray, sketch: kll_doubles_sketch | None, spec: TelemetrySpec
) -> dict[str, Any]:
    sums = dict(zip(COUNTERS, values.tolist(), strict=True))
    events, busy_s = sums["processed_events"], sums["busy_s"]
    mean_s = busy_s / events if events > 0 and busy_s > 0 else None
    cv = None
    if mean_s is not None and events > 1:
        cv = math.sqrt(max(sums["busy_s2"] / events - mean_s * mean_s, 0.0)) / mean_s
    return {
        "group": window.group,
        "consumer": window.consumer,
        "start_s": window.end_s - spec.slide_s,
        "end_s": window.end_s,
        **sums,
        "service_eps": None if mean_s is None else 1.0 / mean_s,
        "service_cv": cv,
        "latency_mean_s": sums["latency_s"] / events if events > 0 else None,
        **{f"latency_p{q * 100:g}_s": None if sketch is None else sketch.get_quantile(q) for q in QUANTILES},
        "sla_ratio": None if sketch is None else sketch.get_rank(spec.objective_s, True),
        "latency_kll": None if sketch is None else bytes(sketch.serialize()),
    }


def _run(report: Telemetry) -> Run:
    return Run(report.group, report.consumer, report.run)
