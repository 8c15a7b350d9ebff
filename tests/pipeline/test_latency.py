"""Latencies computed from the files equal the simulator's, event by event."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from sluice.analyze.window import WindowAnalyzer
from sluice.control.journal import Journal, read_journal
from sluice.control.loop import ControlLoop, Sink
from sluice.errors import InputError
from sluice.execute.base import Executor
from sluice.model import Decision, Objective, Plan, Reason
from sluice.model.values import FloatArray, floats, ints
from sluice.monitor.base import Monitor
from sluice.pipeline.latency.consumer import LatencySpec, event_batches, part_batches
from sluice.pipeline.latency.history import TO_THE_END, Segment, history_of, static_history, work_of
from sluice.pipeline.latency.job import event_latencies, latency_parts, summarised
from sluice.pipeline.latency.write import write_latencies
from sluice.pipeline.traces.generate import write_generated
from sluice.plan.base import PlanContext, Policy, hold, propose
from sluice.plan.registry import make_policy
from sluice.simulate import (
    Burst,
    ExponentialService,
    FixedService,
    GroupSpec,
    LognormalSize,
    PerByteService,
    Protocol,
    Rates,
    RunResult,
    Service,
    Source,
    WorldSpec,
    simulate,
)


class Scripted:
    """At each tick another assignment, drawn beforehand: more of a change than any policy would make."""

    name = "scripted"

    def __init__(self, owners: Sequence[Sequence[int]]) -> None:
        self._owners = owners

    def plan(self, context: PlanContext) -> Plan:
        tick = len(context.recent)
        if tick >= len(self._owners) or not context.workload.settled:
            return hold(context, self.name, Reason("nothing more to do"))
        target = context.workload.assignment.with_owners(ints(self._owners[tick]))
        return propose(context, self.name, target, Reason("as the script says"))


def run(spec: WorldSpec, policy: Policy, seed: int, sink: Sink) -> RunResult:
    def make_loop(monitor: Monitor, executor: Executor) -> ControlLoop:
        return ControlLoop(
            monitor=monitor,
            analyzer=WindowAnalyzer(),
            policy=policy,
            executor=executor,
            objective=Objective(latency_s=0.5),
            sink=sink,
            memory=10_000,
        )

    return simulate(spec, seed=seed, make_loop=make_loop)["g"]


class Kept:
    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> None:
        self.decisions.append(decision)


def world(service: Service, protocol: Protocol, **group: float) -> WorldSpec:
    rates = Rates(eps=floats([200.0, 50.0, 400.0, 100.0] * 5))
    source = Source(
        topic="t", partitions=5, arrivals=Burst(rates=rates, period_s=1.001), sizes=LognormalSize(mean_bytes=100, cv=1)
    )
    spec = GroupSpec(
        name="g",
        topics=("t",),
        service=service,
        protocol=protocol,
        rebalance_s=group.get("rebalance_s", 0.2),
        heartbeat_s=group.get("heartbeat_s", 1.0),
        startup_s=(0.0, group.get("startup_s", 0.5)),
    )
    return WorldSpec(sources=(source,), groups=(spec,), duration_s=20.0)


def by_number(rows: Sequence[pa.RecordBatch], layout: Path) -> FloatArray:
    """Latencies in order of arrival: an event's number is in the layout."""
    table = pa.Table.from_batches(rows).to_pydict()
    sequence = {
        p: pq.ParquetFile(layout / f"partition={p}" / "part-00000.parquet").read(["sequence"]).column(0).to_numpy()
        for p in set(table["partition"])
    }
    found = np.full(len(table["event"]), np.nan)
    for partition, event, latency_s in zip(table["partition"], table["event"], table["latency_s"], strict=True):
        found[sequence[partition][event]] = latency_s
    return found


owners = st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=18)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    script=owners,
    protocol=st.sampled_from([Protocol.EAGER, Protocol.COOPERATIVE, Protocol.HANDOVER]),
    service=st.sampled_from(
        [
            FixedService(mean_s=0.01),
            ExponentialService(mean_s=0.01),
            PerByteService(s_per_byte=1e-4, base_s=0.001, mean_s=0.011),
        ]
    ),
    seed=st.integers(0, 5),
)
def test_any_run_equals_the_simulator_event_by_event(
    tmp_path_factory: pytest.TempPathFactory,
    script: list[list[int]],
    protocol: Protocol,
    service: Service,
    seed: int,
) -> None:
    layout = tmp_path_factory.mktemp("run") / "events"
    spec = world(service, protocol)
    kept = Kept()
    result = run(spec, Scripted(script), seed, kept)
    assert write_generated(spec, "g", seed, str(layout)) == result.events

    history = history_of(kept.decisions)
    how = LatencySpec(service=None, objective_s=0.5)
    found = by_number([b for work in work_of(history) for b in event_batches(str(layout), work, how)], layout)
    assert result.latencies.exact_s is not None
    np.testing.assert_allclose(found, result.latencies.exact_s, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def workload_a(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, RunResult]:
    """(layout, journal, the simulator's result) of workload A under tail-binpack."""
    folder = tmp_path_factory.mktemp("workload-a")
    spec = WorldSpec(
        sources=(Source(topic="t", partitions=5, arrivals=Burst(rates=Rates(eps=workload_a_eps()), period_s=1.001)),),
        groups=(GroupSpec(name="g", topics=("t",), service=FixedService(mean_s=0.005)),),
        duration_s=600.0,
    )
    with Journal(folder / "journal.jsonl") as journal:
        result = run(spec, make_policy("tail-binpack"), 3, journal)
    write_generated(spec, "g", 3, str(folder / "events"))
    return folder / "events", folder / "journal.jsonl", result


def workload_a_eps() -> FloatArray:
    """Spec 1: half-cosine segments through the knots, each second at its middle, rounded up."""
    knots = [(0, 0), (125, 200), (212.5, 150), (300, 275), (387.5, 150), (475, 350), (600, 0)]
    middle = np.arange(600) + 0.5
    value = np.zeros(600)
    for (t0, v0), (t1, v1) in pairwise(knots):
        mine = (middle >= t0) & (middle < t1)
        value[mine] = v0 + (v1 - v0) * (1 - np.cos(np.pi * (middle[mine] - t0) / (t1 - t0))) / 2
    return floats(np.ceil(value))


def test_workload_a_equals_the_simulator_event_by_event(
    spark: SparkSession, workload_a: tuple[Path, Path, RunResult]
) -> None:
    layout, journal, result = workload_a
    assert result.events == 109_053
    assert result.up >= 4
    history = history_of(read_journal(journal))
    how = LatencySpec(service=FixedService(mean_s=0.005), objective_s=0.5)
    rows = event_latencies(spark, str(layout), history, how).toArrow().to_batches()
    assert result.latencies.exact_s is not None
    np.testing.assert_allclose(by_number(rows, layout), result.latencies.exact_s, rtol=0, atol=1e-6)


def test_the_summary_is_that_of_the_events(
    spark: SparkSession, workload_a: tuple[Path, Path, RunResult], tmp_path: Path
) -> None:
    layout, journal, result = workload_a
    how = LatencySpec(service=FixedService(mean_s=0.005), objective_s=0.5)
    history = history_of(read_journal(journal))
    total = write_latencies(spark, str(layout), history, how, str(tmp_path / "out"), per_event=True)
    assert total["events"] == result.events
    assert total["late_events"] == result.late_events
    assert total["latency_mean_s"] == pytest.approx(result.mean_s, rel=1e-9)
    assert total["latency_max_s"] == pytest.approx(result.max_s, rel=1e-9)
    for ratio in (0.5, 0.95, 0.99):
        exact = result.latencies.quantile_s(ratio)
        assert exact <= total[f"latency_p{ratio * 100:g}_s"] <= exact * 1.008

    events = spark.read.parquet(str(tmp_path / "out" / "events")).toPandas()
    minutes = events.assign(bin=(events.time_s // 60).astype("int64")).groupby("bin").latency_s
    by_bin = spark.read.parquet(str(tmp_path / "out" / "by_bin"))
    expected = spark.createDataFrame(
        [
            (int(b), int(n), float(m), float(x))
            for b, n, m, x in zip(minutes.count().index, minutes.count(), minutes.mean(), minutes.max(), strict=True)
        ],
        "bin long, events long, latency_mean_s double, latency_max_s double",
    )
    assertDataFrameEqual(by_bin.select(*expected.columns), expected, rtol=1e-9)
    by_consumer = spark.read.parquet(str(tmp_path / "out" / "by_consumer"))
    assert by_consumer.groupBy().sum("events").head() == (result.events,)


def _layout(folder: Path, times: Mapping[int, Sequence[float]], **columns: Sequence[float]) -> Path:
    for partition, mine in times.items():
        place = folder / f"partition={partition}"
        place.mkdir(parents=True)
        table = pa.table({"time_s": pa.array(mine, pa.float64()), "sequence": pa.array(range(len(mine)), pa.int64())})
        for name, values in columns.items():
            table = table.append_column(name, pa.array(values))
        pq.write_table(table, place / "part-0.parquet", row_group_size=3)
    return folder


HOW = LatencySpec(service=FixedService(mean_s=1.0), objective_s=0.5)


def test_one_server_over_two_partitions_by_hand(tmp_path: Path) -> None:
    layout = _layout(tmp_path / "events", {0: [0.0, 0.0, 5.0], 1: [0.0, 0.5, 0.5, 9.0]})
    rows = pa.Table.from_batches(event_batches(str(layout), work_of(static_history(2, 1))[0], HOW)).to_pydict()
    served = list(zip(rows["partition"], rows["event"], rows["latency_s"], strict=True))
    # At 0: the first of each partition, then the second of partition 0; then partition 1's at 0.5, and so on.
    assert served == [
        (0, 0, 1.0),
        (1, 0, 2.0),
        (0, 1, 3.0),
        (1, 1, 3.5),
        (1, 2, 4.5),
        (0, 2, 1.0),
        (1, 3, 1.0),
    ]


def test_a_segment_is_read_from_its_event_on_and_not_before_it_is_readable(tmp_path: Path) -> None:
    layout = _layout(tmp_path / "events", {0: [0.0, 1.0, 2.0, 3.0, 30.0]})
    history = [Segment("a", 0, 0, 2, 0.0), Segment("b", 0, 2, TO_THE_END, 10.0)]
    first, second = (
        pa.Table.from_batches(event_batches(str(layout), work, HOW)).to_pydict() for work in work_of(history)
    )
    assert (first["event"], first["latency_s"]) == ([0, 1], [1.0, 1.0])
    assert (second["event"], second["latency_s"]) == ([2, 3, 4], [9.0, 9.0, 1.0])


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_pieces_of_any_size_give_the_same(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    times = {p: sorted(data.draw(st.lists(st.integers(0, 9).map(float), min_size=1, max_size=12))) for p in range(3)}
    layout = _layout(tmp_path_factory.mktemp("pieces") / "events", times)
    rows = pa.Table.from_batches(event_batches(str(layout), work_of(static_history(3, 1))[0], HOW)).to_pydict()
    order = sorted((t, n, p) for p, mine in times.items() for n, t in enumerate(mine))
    free, expected = 0.0, []
    for t, n, p in order:
        free = max(free, t) + 1.0
        expected.append((p, n, free - t))
    assert list(zip(rows["partition"], rows["event"], rows["latency_s"], strict=True)) == expected
    parts = pa.Table.from_batches(part_batches(str(layout), work_of(static_history(3, 1))[0], HOW)).to_pydict()
    assert sum(parts["events"]) == len(order)
    assert sum(parts["late_events"]) == len(order)


def test_bins_that_come_back_are_added_up(spark: SparkSession, tmp_path: Path) -> None:
    # A partition that stands still for hours is served late, with arrivals long past: its bins come twice.
    times: dict[int, list[float]] = {0: [0.0, 60.0], 1: [i * 3600.0 for i in range(5)]}
    layout = _layout(tmp_path / "events", times)
    history = [Segment("a", 0, 0, TO_THE_END, 9000.0), Segment("a", 1, 0, TO_THE_END, 0.0)]
    parts = latency_parts(spark, str(layout), history, HOW)
    assert parts.count() == 7
    assertDataFrameEqual(
        summarised(parts, "bin").select("bin", "events", "latency_max_s"),
        spark.createDataFrame(
            [(0, 2, 9001.0), (1, 1, 8942.0), *((60 * i, 1, 1.0) for i in range(1, 5))],
            "bin long, events long, latency_max_s double",
        ),
    )


@pytest.mark.parametrize(
    ("times", "columns", "how", "said"),
    [
        ([1.0, 0.5], {}, HOW, "are not in the order of time"),
        ([1.0], {}, LatencySpec(service=None, objective_s=0.5), "lack the column service_s"),
        (
            [1.0],
            {"size_bytes": [None]},
            LatencySpec(service=PerByteService(s_per_byte=1.0, base_s=0.0, mean_s=1.0), objective_s=0.5),
            "have no size_bytes",
        ),
    ],
)
def test_bad_events_are_one_clear_line_and_nothing_is_written(
    spark: SparkSession,
    tmp_path: Path,
    times: list[float],
    columns: dict[str, list[float]],
    how: LatencySpec,
    said: str,
) -> None:
    layout = _layout(tmp_path / "events", {0: times}, **columns)
    with pytest.raises(InputError, match=said) as caught:
        write_latencies(spark, str(layout), static_history(1, 1), how, str(tmp_path / "out"))
    assert "\n" not in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["events"]


def test_a_wrong_history_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="consumers is 3; give at least 1 and at most one for each of 2 partitions"):
        static_history(2, 3)
    with pytest.raises(InputError, match="the journal has no decision of the group 'x'"):
        history_of([], "x")
    with pytest.raises(InputError, match="do not exist; make them with"):
        event_latencies(spark, str(tmp_path / "nowhere"), static_history(1, 1), HOW)
