"""Jobs of a comparison as tasks of Spark."""

import pickle
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from sluice.lab.compare import Done, Job, do
from sluice.pipeline.failures import plain_failures

_TASK = "task int, job binary"


class SparkEngine:
    """Runs jobs on the session's executors: an `each` of `sluice.lab.compare`."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def __call__(self, work: Sequence[Job]) -> Iterator[Done]:
        frame = tasks(self._session, [pickle.dumps(job) for job in work])
        with plain_failures("the comparison"):
            for row in frame.mapInArrow(_run, "done binary").collect():
                yield pickle.loads(bytes(row.done))


def tasks(session: SparkSession, jobs: Sequence[bytes]) -> DataFrame:
    """A task for each job, so that a slow one holds nobody up."""
    frame = session.createDataFrame([(i, bytearray(job)) for i, job in enumerate(jobs)], _TASK)
    return frame.repartitionById(len(jobs), fn.col("task")).select("job")


def _run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for job in batch.column("job").to_pylist():
            yield pa.record_batch({"done": pa.array([pickle.dumps(do(pickle.loads(job)))], pa.binary())})
