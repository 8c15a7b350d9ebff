"""The journal of a live run and its events tell every event's latency again, as the consumers wrote it down."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.live.processes_end import module_environment

from sluice.assembly.world import build_world
from sluice.broker import Broker
from sluice.control.journal import Journal, read_journal
from sluice.lab.library import find_scenario
from sluice.lab.live.load import Load, load_of
from sluice.lab.live.replay import Replayed, replay
from sluice.lab.live.settings import Manner
from sluice.model.values import FloatArray
from sluice.pipeline.latency.consumer import LatencySpec, event_batches
from sluice.pipeline.latency.history import history_of, work_of
from sluice.simulate import FixedService

SCENARIO = """
name = "short"
duration_s = 8
interval_s = 0.5

[objective]
latency_s = 0.5

[topic]
name = "events"
partitions = 4
arrivals = { kind = "burst" }
rate = { kind = "constant", eps = 260 }

[group]
name = "consumers"
service = { kind = "fixed", mean_s = 0.005 }

[guards]
cooldown_s = 1.0
"""


def test_latencies_from_the_journal_are_those_of_the_consumers(
    broker: Broker, own_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert own_cache.is_dir()
    monkeypatch.setenv("PYTHONPATH", module_environment()["PYTHONPATH"])
    (tmp_path / "short.toml").write_text(SCENARIO)
    scenario = find_scenario(str(tmp_path / "short.toml"), None)
    load = load_of(build_world(scenario, 0), 0)
    run = replay(
        scenario,
        load,
        "tail-binpack",
        Manner(),
        duration_s=scenario.duration_s,
        bootstrap=broker.bootstrap,
        folder=tmp_path / "run",
    )
    with Journal(tmp_path / "run.jsonl") as journal:
        for decision in run.decisions:
            journal.append(decision)
    told = computed_s(tmp_path, load, run)
    assert np.isfinite(told).all(), "every event once"
    assert max(d.snapshot.assignment.count for d in run.decisions) >= 2, "it was about a change of owners"
    assert np.median(np.abs(told - run.latency_s)) < 0.25 * np.median(run.latency_s)


def computed_s(folder: Path, load: Load, run: Replayed) -> FloatArray:
    """One for each event sent, by the pipeline's recurrence; NaN where the history has nobody who read it."""
    for number in np.unique(load.partition).tolist():
        place = folder / "events" / f"partition={number}"
        place.mkdir(parents=True)
        time_s = run.start_s + run.arrived_s[load.partition == number]
        # The broker's stamps are whole milliseconds of a clock that may be set; a log is read in its own order.
        columns = {"time_s": np.maximum.accumulate(time_s), "sequence": np.arange(len(time_s))}
        pq.write_table(pa.table(columns), place / "part.parquet")
    service_eps = [d.workload.service_eps for d in run.decisions if d.workload.service_eps is not None]
    spec = LatencySpec(service=FixedService(mean_s=1.0 / float(np.median(service_eps))), objective_s=0.5)
    latency_s = np.full(load.count, np.nan)
    for work in work_of(history_of(read_journal(folder / "run.jsonl"))):
        for batch in event_batches((folder / "events").as_uri(), work, spec):
            for number, event, found_s in zip(
                *(batch.column(name).to_numpy() for name in ("partition", "event", "latency_s")), strict=True
            ):
                index = np.flatnonzero(load.partition == number)[event]
                assert np.isnan(latency_s[index]), "once"
                latency_s[index] = found_s
    return latency_s
