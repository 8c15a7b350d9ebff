"""Simulates as many events as asked for in histogram mode and prints the process's peak memory in MB."""

import resource
import sys

import numpy as np
from benchmarks.bench_simulate import SERVICE_S, group_spec, loop_of, workload_a

from sluice.simulate import simulate

if __name__ == "__main__":
    load = workload_a()
    factor = float(sys.argv[1]) / load.sum()
    spec = group_spec(np.round(load * factor), SERVICE_S / factor, partitions=5)
    simulate(spec, seed=0, make_loop=loop_of(spec), exact=False)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
