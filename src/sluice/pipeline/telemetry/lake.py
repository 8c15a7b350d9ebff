"""The lake: Parquet by table, group and date, to which each batch is added once.

A batch's files are there before its entry in the log of batches is; the entry appears in one rename and makes them
count. Until then they are leavings of a crash, which the same batch, run again, writes anew under the same names.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileType
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from sluice.errors import InputError
from sluice.pipeline.publish import file_system
from sluice.pipeline.telemetry.arrivals import SECONDS
from sluice.pipeline.telemetry.consumers import CONSUMERS
from sluice.pipeline.telemetry.keys import HOT_KEYS
from sluice.pipeline.telemetry.spec import TelemetrySpec
from sluice.pipeline.telemetry.step import QUARANTINE, WINDOWS, State, Step

NO_BATCH = -1
TABLES = {
    "seconds": SECONDS,
    "windows": WINDOWS,
    "hot_keys": HOT_KEYS,
    "consumers": CONSUMERS.remove(0),
    "quarantine": QUARANTINE,
}
"""Columns of the files; group and date are in their folders' names."""
_TIME = {
    "seconds": "second",
    "windows": "start_s",
    "hot_keys": "start_s",
    "consumers": "start_s",
    "quarantine": "time_s",
}
_LOG, _STATE = "_batches", "_state"


class Lake:
    """One writer; readers use `read_lake`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._system, self._root = file_system(path)
        self._system.create_dir(f"{self._root}/{_LOG}", recursive=True)
        self.last_batch = max(_batches(path), default=NO_BATCH)

    @property
    def checkpoint(self) -> str:
        return f"{self.path}/_checkpoint"

    def state(self) -> State:
        """After the last batch."""
        if self.last_batch == NO_BATCH:
            return State()
        folder = f"{self._root}/{_STATE}/b{self.last_batch:010d}"
        tables = {name: pq.read_table(f"{folder}/{name}.parquet", filesystem=self._system) for name in State.names()}
        return State(**tables)

    def expects(self, batch: int) -> bool:
        """Whether the batch is the next one; False when it is there already."""
        if batch <= self.last_batch:
            return False
        if batch != self.last_batch + 1:
            raise InputError(
                f"lake {self.path} ends with batch {self.last_batch}, its checkpoint with {batch - 1}; "
                "they do not belong together: restore both, or begin a new lake"
            )
        return True

    def add(self, batch: int, step: Step, clock_s: float, spec: TelemetrySpec) -> None:
        """Make a batch part of the lake, whole."""
        files = []
        for table, rows in step.final.items():
            for group, mine in _by_group(rows, spec):
                for date, part in _by_date(mine, _TIME[table], clock_s):
                    file = f"{table}/group={group}/date={date}/b{batch:010d}.parquet"
                    self._write(part, f"{self._root}/{file}")
                    files.append(file)
        for name in State.names():
            self._write(getattr(step.state, name), f"{self._root}/{_STATE}/b{batch:010d}/{name}.parquet")
        counts = {table: len(rows) for table, rows in step.final.items()}
        entry = json.dumps({"batch": batch, "files": files, "rows": counts})
        draft = f"{self._root}/{_LOG}/.b{batch:010d}.json"
        with self._system.open_output_stream(draft) as stream:
            stream.write(entry.encode())
        self._system.move(draft, f"{self._root}/{_LOG}/b{batch:010d}.json")
        self.last_batch = batch
        self._forget_state(batch - 2)

    def _write(self, table: pa.Table, path: str) -> None:
        self._system.create_dir(path.rpartition("/")[0], recursive=True)
        pq.write_table(table, path, filesystem=self._system)

    def _forget_state(self, batch: int) -> None:
        folder = f"{self._root}/{_STATE}/b{batch:010d}"
        if self._system.get_file_info(folder).type != FileType.NotFound:
            self._system.delete_dir(folder)


def read_lake(session: SparkSession, path: str, table: str) -> DataFrame:
    """A table of the lake, all batches that are whole; an empty frame before the first row."""
    if table not in TABLES:
        raise InputError(f"the lake has no table {table!r}; it has {', '.join(TABLES)}")
    schema = TABLES[table].append(pa.field("group", pa.string())).append(pa.field("date", pa.string()))
    files = [f"{path}/{file}" for entry in _batches(path).values() for file in entry["files"]]
    mine = [file for file in files if file.startswith(f"{path}/{table}/")]
    spark_schema = from_arrow_schema(schema)
    if not mine:
        return session.createDataFrame([], spark_schema)
    return session.read.schema(spark_schema).option("basePath", f"{path}/{table}").parquet(*mine)


def _batches(path: str) -> dict[int, dict[str, Any]]:
    """The log of batches."""
    system, root = file_system(path)
    found = system.get_file_info(FileSelector(f"{root}/{_LOG}", allow_not_found=True))
    entries = {}
    for info in found:
        if info.base_name.startswith("b") and info.base_name.endswith(".json"):
            with system.open_input_stream(info.path) as stream:
                entry = json.loads(stream.read())
            entries[int(entry["batch"])] = entry
    return dict(sorted(entries.items()))


def _by_group(rows: pa.Table, spec: TelemetrySpec) -> Iterator[tuple[str, pa.Table]]:
    """Rows by the group they are about; a topic that two groups read is in both of their folders."""
    if "group" in rows.column_names:
        for group in pc.unique(rows.column("group")).to_pylist():
            yield group, rows.filter(pc.equal(rows.column("group"), group)).drop_columns(["group"])
        return
    for watched in spec.groups:
        topics = pa.array([*watched.topics, watched.reports_topic])
        mine = rows.filter(pc.is_in(rows.column("topic"), value_set=topics))
        if len(mine):
            yield watched.group, mine


def _by_date(rows: pa.Table, column: str, clock_s: float) -> Iterable[tuple[str, pa.Table]]:
    """Rows by the day (UTC) of their time; what has none belongs to the day it was found."""
    time_s = rows.column(column).to_numpy().astype(np.float64)
    day = np.floor(np.where(np.isnan(time_s), clock_s, time_s) / 86_400).astype(np.int64)
    for number in np.unique(day).tolist():
        yield f"{datetime.fromtimestamp(number * 86_400, UTC):%Y-%m-%d}", rows.filter(pa.array(day == number))
