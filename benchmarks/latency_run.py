"""`python -m benchmarks.latency_run ENGINE FOLDER FILES OUT TIMES`: the latency job in a process of its own.

Prints one line of JSON: the best time, the events, and the peak memory of the process and all that it started.
"""

import json
import shutil
import sys
import time
from pathlib import Path

from benchmarks.latency_events import history
from benchmarks.tree_memory import TreeMemory

from sluice.pipeline.latency.consumer import LatencySpec
from sluice.pipeline.latency.write import write_latencies
from sluice.pipeline.session import SessionSpec, open_session

OBJECTIVE_S, BIN_S = 0.5, 60.0


def main(engine: str, folder: Path, files: int, out: Path, times: int) -> None:
    with TreeMemory() as memory:
        took, events = (_spark if engine == "spark" else _polars)(folder, files, out, times)
    print(json.dumps({"took_s": took, "events": events, "peak_mb": memory.peak_mb}))


def _spark(folder: Path, files: int, out: Path, times: int) -> tuple[float, int]:
    session = open_session(SessionSpec(name="bench", master="local[2]", memory="1g"))
    spec = LatencySpec(service=None, objective_s=OBJECTIVE_S, bin_s=BIN_S)
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        total = write_latencies(session, str(folder), history(files), spec, str(out), overwrite=True)
        took.append(time.perf_counter() - begun)
    session.stop()
    return min(took), total["events"]


def _polars(folder: Path, files: int, out: Path, times: int) -> tuple[float, int]:
    from benchmarks.polars_latency import write_summary

    took = []
    for _ in range(times):
        shutil.rmtree(out, ignore_errors=True)
        begun = time.perf_counter()
        events = write_summary(folder, history(files), out, objective_s=OBJECTIVE_S, bin_s=BIN_S)
        took.append(time.perf_counter() - begun)
    return min(took), events


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5]))
