"""The latency job against Polars from the same files, its growth and memory, and an experiment on two cores.

Spark and Polars run in turn, each in a process of its own; the best run of each counts, a started session is taken for
granted. SLUICE_BENCH_MEVENTS (millions of events, a multiple of 10, 100 unless set) makes the largest run smaller.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from benchmarks.latency_events import FILE_EVENTS, PARTITIONS, link_events, write_events
from benchmarks.measure import Measurement

_ROOT = Path(__file__).parents[1]
_FILE_MEVENTS = FILE_EVENTS * PARTITIONS // 1_000_000
_RATIO_MEVENTS = 20
_QUANTILE_ERROR = 0.008
_RUNS = 3


def run() -> list[Measurement]:
    most = int(os.environ.get("SLUICE_BENCH_MEVENTS", "100"))
    with TemporaryDirectory(prefix="sluice-bench-") as folder:
        latency = _latency(Path(folder), most)
        return [*latency, _experiment(Path(folder))]


def _latency(folder: Path, most: int) -> list[Measurement]:
    whole = folder / "whole"
    write_events(whole, most // _FILE_MEVENTS)
    sizes = {size: folder / f"events-{size}" for size in (_FILE_MEVENTS, _RATIO_MEVENTS)}
    for size, place in sizes.items():
        link_events(place, whole, size // _FILE_MEVENTS)
    ours, theirs = folder / "spark", folder / "polars"
    spark = _run("spark", sizes[_RATIO_MEVENTS], _RATIO_MEVENTS, ours, _RUNS)
    polars = _run("polars", sizes[_RATIO_MEVENTS], _RATIO_MEVENTS, theirs, _RUNS)
    _check_equal(ours, theirs)
    small = _run("spark", sizes[_FILE_MEVENTS], _FILE_MEVENTS, folder / "small", _RUNS)
    large = _run("spark", whole, most, folder / "large", 1)
    growth = (large["took_s"] / most) / (small["took_s"] / _FILE_MEVENTS)
    name = "pipeline latency"
    return [
        Measurement(f"{name}, 20 M events on two cores / Polars", polars["took_s"] / spark["took_s"], "x", 1.0, True),
        Measurement(f"{name}, {most} M / 10 M events, time an event", growth, "x", 1.2, False),
        Measurement(f"{name}, {most} M events, peak of all processes", large["peak_mb"], "MB", 2048, False),
        Measurement(f"{name}, {most} M events, rate", most / large["took_s"], "M/s"),
    ]


def _experiment(folder: Path) -> Measurement:
    one, two = (_measured("experiment_run", str(cores), str(folder / f"grid-{cores}"))["took_s"] for cores in (1, 2))
    return Measurement("pipeline experiment, local[2] / local[1]", one / two, "x", 1.7, True)


def _run(engine: str, events: Path, mevents: int, out: Path, times: int) -> dict[str, Any]:
    return _measured("latency_run", engine, str(events), str(mevents // _FILE_MEVENTS), str(out), str(times))


def _measured(module: str, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *words],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=_ROOT,
        env={**os.environ, "POLARS_MAX_THREADS": "2"},
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _check_equal(ours: Path, theirs: Path) -> None:
    """Both did the same: otherwise the ratio means nothing."""
    for name, by in (("by_bin", ["bin"]), ("by_consumer", ["consumer", "bin"])):
        order = [(column, "ascending") for column in by]
        one = pq.read_table(ours / name).sort_by(order)
        other = pq.read_table(theirs / f"{name}.parquet").sort_by(order)
        for column in ("events", "late_events", "latency_mean_s", "latency_max_s"):
            np.testing.assert_allclose(one[column].to_numpy(), other[column].to_numpy(), rtol=1e-6, err_msg=column)
        for column in ("latency_p50_s", "latency_p95_s", "latency_p99_s"):
            np.testing.assert_allclose(
                one[column].to_numpy(), other[column].to_numpy(), rtol=_QUANTILE_ERROR, err_msg=column
            )
