"""From raw logs to a published workload."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from sluice.errors import InputError
from sluice.pipeline.failures import plain_failures
from sluice.pipeline.publish import file_system, published
from sluice.pipeline.traces.base import Reader
from sluice.pipeline.traces.clean import flag_backward_clock, quarantined, usable
from sluice.pipeline.traces.layout import in_layout, read_layout, write_layout
from sluice.pipeline.traces.place import ByKey, Placement
from sluice.pipeline.traces.scenario import ScenarioSketch, scenario_toml
from sluice.pipeline.traces.shape import Spread, cut, expand, faster, load_per_bin, scaled

RECORDED_LIMIT = 1_000_000
"""Up to this many events a scenario names every single one; above, it names their rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpec:
    """What a workload is made of and how the log is changed on the way."""

    reader: Reader
    partitions: int
    placement: Placement = field(default_factory=ByKey)
    start_s: float = 0.0
    """Slice, in seconds of the log from its first record."""
    stop_s: float | None = None
    speed_up: float = 1.0
    peak_eps: float | None = None
    spread: Spread = Spread.EVEN
    seed: int = 0
    disorder_s: float | None = 60.0
    """How far a log that is written in order may step back; None: as far as it likes."""
    max_bad_ratio: float = 0.1
    scenario: ScenarioSketch = field(default_factory=ScenarioSketch)

    def __post_init__(self) -> None:
        checks: tuple[tuple[str, Any, bool, str], ...] = (
            ("partitions", self.partitions, self.partitions >= 1, "give at least 1"),
            ("speed_up", self.speed_up, 0 < self.speed_up < math.inf, "give a factor above 0"),
            ("start_s", self.start_s, self.start_s >= 0, "give a time of at least 0 s"),
            ("stop_s", self.stop_s, self.stop_s is None or self.stop_s > self.start_s, "give a time after start_s"),
            ("peak_eps", self.peak_eps, self.peak_eps is None or self.peak_eps > 0, "give a rate above 0 events/s"),
            ("max_bad_ratio", self.max_bad_ratio, 0 <= self.max_bad_ratio <= 1, "give a share from 0 to 1"),
        )
        for name, value, good, remedy in checks:
            if not good:
                raise InputError(f"{name} is {value}; {remedy}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """What came out; `trace.json` beside the events says the same."""

    events: int
    records: int
    quarantined: dict[str, int]
    duration_s: float
    mean_eps: float
    peak_eps: float
    partition_events: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Overview:
    records: int
    bad: dict[str, int]
    origin_s: float | None


def make_trace(
    session: SparkSession, paths: Sequence[str], out: str, spec: TraceSpec, *, overwrite: bool = False
) -> TraceSummary:
    """Read, clean, reshape and lay out; `out` appears only when everything is there."""
    source = f"trace {', '.join(paths)}"
    with published(out, overwrite=overwrite) as draft, plain_failures(source):
        records = spec.reader.read(session, paths)
        if spec.reader.ordered and spec.disorder_s is not None:
            records = records.transform(flag_backward_clock, spec.disorder_s)
        overview = _overview(records)
        _check(overview, paths, spec.max_bad_ratio)
        if overview.bad:
            records.transform(quarantined).write.parquet(f"{draft}/quarantine")
        events = shaped(records, spec, overview.origin_s or 0.0)
        write_layout(events.transform(in_layout, spec.partitions), f"{draft}/events")
        laid = read_layout(session, f"{draft}/events")
        summary = _summary(laid, spec, overview)
        _write_text(f"{draft}/trace.json", json.dumps(asdict(summary), indent=2))
        _write_scenario(laid, summary, spec, draft, name=out.rstrip("/").rpartition("/")[2], source=source)
    return summary


def shaped(records: DataFrame, spec: TraceSpec, origin_s: float) -> DataFrame:
    """Usable records as single events on their partitions."""
    stop_s = None if spec.stop_s is None else origin_s + spec.stop_s
    good = records.transform(usable).transform(cut, origin_s + spec.start_s, stop_s).transform(faster, spec.speed_up)
    step_s = None if spec.reader.step_s is None else spec.reader.step_s / spec.speed_up
    if spec.peak_eps is not None:
        good = good.transform(scaled, spec.peak_eps / _peak_eps(good, step_s))
    events = good.transform(expand, step_s, spec.spread, spec.seed)
    if not spec.reader.keyed:
        # Spares every event the way through Python, where keys are hashed.
        events = events.drop("key")
    return spec.placement.place(events, spec.partitions)


def _overview(records: DataFrame) -> _Overview:
    rows = records.groupBy("problem").agg(fn.count("*").alias("records"), fn.min("time_s").alias("origin_s")).collect()
    bad = {row.problem: row.records for row in rows if row.problem is not None}
    origin_s = next((row.origin_s for row in rows if row.problem is None), None)
    return _Overview(sum(row.records for row in rows), bad, origin_s)


def _check(overview: _Overview, paths: Sequence[str], max_bad_ratio: float) -> None:
    where = f"trace {', '.join(paths)}"
    if overview.records == 0:
        raise InputError(f"{where} is empty; give a file with at least one record")
    bad = sum(overview.bad.values())
    if bad > max_bad_ratio * overview.records:
        listed = ", ".join(f"{count} x {problem}" for problem, count in sorted(overview.bad.items()))
        raise InputError(
            f"{where}: {bad} of {overview.records} records cannot be used ({listed}); "
            f"check the format, or allow more than {max_bad_ratio:g} of them with --max-bad-ratio"
        )


def _peak_eps(records: DataFrame, step_s: float | None) -> float:
    bin_s = max(1.0, step_s or 1.0)
    peak = records.transform(load_per_bin, bin_s).agg(fn.max("events")).head()
    if peak is None or not peak[0]:
        raise InputError("the trace has no events in its slice; there is no peak to scale")
    return float(peak[0]) / bin_s


def _summary(laid: DataFrame, spec: TraceSpec, overview: _Overview) -> TraceSummary:
    by_partition = {
        row.partition: row
        for row in laid.groupBy("partition")
        .agg(fn.count("*").alias("events"), fn.max("time_s").alias("last_s"))
        .collect()
    }
    events = sum(row.events for row in by_partition.values())
    if not events:
        raise InputError("the trace has no events in its slice; widen it")
    last_s = max(row.last_s for row in by_partition.values())
    # A slice that was asked for counts to its end, events or not; a rate's last step to its own.
    asked_s = None if spec.stop_s is None else (spec.stop_s - spec.start_s) / spec.speed_up
    duration_s = float(max(math.floor(last_s) + 1, 1)) if asked_s is None else asked_s
    per_second = laid.select("time_s", fn.lit(1.0).alias("events")).transform(load_per_bin, 1.0)
    peak = per_second.agg(fn.max("events").alias("events")).collect()[0].events
    return TraceSummary(
        events=events,
        records=overview.records,
        quarantined=overview.bad,
        duration_s=duration_s,
        mean_eps=events / duration_s,
        peak_eps=peak,
        partition_events=tuple(by_partition[p].events if p in by_partition else 0 for p in range(spec.partitions)),
    )


def _write_scenario(
    laid: DataFrame, summary: TraceSummary, spec: TraceSpec, draft: str, *, name: str, source: str
) -> None:
    single = summary.events <= RECORDED_LIMIT
    if single:
        rows = laid.select("time_s", "partition", "sequence").orderBy("time_s", "sequence", "partition").toArrow()
        times, partitions = rows.column("time_s").to_pylist(), rows.column("partition").to_pylist()
        lines = [f"{t!r},{p}" for t, p in zip(times, partitions, strict=True)]
        _write_text(f"{draft}/arrivals.csv", "\n".join(["time_s,partition", *lines, ""]))
    else:
        loads = laid.select("time_s", fn.lit(1.0).alias("events")).transform(load_per_bin, 1.0).collect()
        counts = {row.bin: row.events for row in loads}
        lines = [f"{counts.get(second, 0.0):g}" for second in range(math.ceil(summary.duration_s))]
        _write_text(f"{draft}/rates.csv", "\n".join([*lines, ""]))
    text = scenario_toml(
        spec.scenario,
        name=name,
        source=source,
        duration_s=summary.duration_s,
        weights=list(summary.partition_events),
        events_file="arrivals.csv" if single else None,
        rates_file=None if single else "rates.csv",
    )
    _write_text(f"{draft}/scenario.toml", text)


def _write_text(path: str, text: str) -> None:
    system, inner = file_system(path)
    with system.open_output_stream(inner) as stream:
        stream.write(text.encode())
