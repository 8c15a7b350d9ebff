"""The experiment as a whole: runs what is missing, shows how far it is, publishes one tidy table."""

import pickle
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import ceil

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from sluice.lab.experiment import least_cost, run
from sluice.pipeline.experiment.engine import tasks
from sluice.pipeline.experiment.grid import Cell
from sluice.pipeline.experiment.store import finished, keep, prepare, results
from sluice.pipeline.failures import plain_failures
from sluice.pipeline.publish import absolute, published

TASKS_A_CORE = 4
"""More tasks than cores, so that all end at about the same time."""
_LOOK_EVERY_S = 0.5


def run_experiment(
    session: SparkSession, cells: Sequence[Cell], out: str, *, on_done: Callable[[int], None] = lambda _: None
) -> DataFrame:
    """Run the cells that `out` does not hold yet; `on_done` hears how many are finished. The table is `out/table`."""
    out = absolute(out)
    prepare(out)
    wanted = {cell.name for cell in cells}
    missing = [cell for cell in cells if cell.name not in finished(out)]
    if missing:
        with plain_failures("the experiment"), _watched(out, wanted, on_done):
            parallel = session.sparkContext.defaultParallelism
            jobs = [pickle.dumps(part) for part in parts_of(missing, TASKS_A_CORE * parallel)]
            tasks(session, jobs).mapInArrow(partial(_run, out), "cell string").collect()
    on_done(len(wanted & finished(out)))
    table = session.createDataFrame(pa.Table.from_pylist(results(out, cells)))
    with published(f"{out}/table", overwrite=True) as draft:
        table.coalesce(1).write.mode("overwrite").parquet(draft)
    return session.read.schema(table.schema).parquet(f"{out}/table")


def parts_of(cells: Sequence[Cell], least: int) -> list[tuple[Cell, ...]]:
    """Cells of one scenario and seed together, since they share the bound; cut smaller where that leaves cores idle."""
    together: dict[tuple[str, int], list[Cell]] = defaultdict(list)
    for cell in cells:
        together[cell.scenario.name, cell.seed].append(cell)
    pieces = ceil(least / len(together))
    parts = []
    for mine in together.values():
        size = ceil(len(mine) / pieces)
        parts += [tuple(mine[first : first + size]) for first in range(0, len(mine), size)]
    return parts


def _run(out: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for part in batch.column("job").to_pylist():
            cells: tuple[Cell, ...] = pickle.loads(part)
            bound = least_cost(cells[0].scenario, cells[0].seed)
            for cell in cells:
                keep(out, cell, run(cell.scenario, cell.policy, cell.seed, bound=bound).row)
                yield pa.record_batch({"cell": [cell.name]})


@contextmanager
def _watched(out: str, wanted: set[str], on_done: Callable[[int], None]) -> Iterator[None]:
    """Counts the finished files while executors work: what they say is true even when the driver is far away."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_EVERY_S):
            on_done(len(wanted & finished(out)))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
