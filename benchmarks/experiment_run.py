"""`python -m benchmarks.experiment_run CORES OUT`: a grid on as many cores; prints the time it took as JSON."""

import json
import sys
import time
from pathlib import Path

from sluice.lab.library import find_scenario
from sluice.pipeline.experiment.grid import cells_of
from sluice.pipeline.experiment.job import run_experiment
from sluice.pipeline.session import SessionSpec, open_session


def main(cores: int, out: Path) -> None:
    scenario = find_scenario("workload-a")
    session = open_session(SessionSpec(name="bench", master=f"local[{cores}]", shuffle_partitions=cores, memory="1g"))
    # Workers are started and the kernels loaded before the clock runs: both happen once a session.
    run_experiment(session, cells_of([scenario], ["tail-binpack"], seeds=4 * cores), str(out / "first"))
    cells = cells_of([scenario], ["binpack", "tail-binpack"], {"f_up": [0.8, 0.9], "f_down": [0.3, 0.4]}, seeds=8)
    begun = time.perf_counter()
    run_experiment(session, cells, str(out / "grid"))
    took_s = time.perf_counter() - begun
    session.stop()
    print(json.dumps({"took_s": took_s, "cells": len(cells)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
