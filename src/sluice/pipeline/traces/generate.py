"""A simulated topic's events in the layout, as the simulator would draw them: for runs to be analysed at leisure."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sluice.errors import InputError
from sluice.pipeline.publish import file_system, published
from sluice.simulate import GroupSpec, WorldSpec
from sluice.simulate.stream import Events, EventStream, generator

STEP_S = 60.0
_SCHEMA = pa.schema(
    [
        ("time_s", pa.float64()),
        ("sequence", pa.int64()),
        ("key", pa.binary()),
        ("size_bytes", pa.int64()),
        ("service_s", pa.float64()),
    ]
)
_ROW_GROUP_EVENTS = 1 << 18


def write_generated(spec: WorldSpec, group: str, seed: int, out: str, *, overwrite: bool = False) -> int:
    """The events that `group` reads, each with the service time it gets; returns their number.

    One pass in this process, since each event's draw follows the one before; memory does not grow with the events.
    """
    reader = next((g for g in spec.groups if g.name == group), None)
    if reader is None:
        raise InputError(f"there is no group {group!r}; the scenario has {', '.join(g.name for g in spec.groups)}")
    source = next((s for s in spec.sources if (s.topic,) == reader.topics), None)
    if source is None:
        raise InputError(
            f"group {group!r} does not read one topic of the scenario's own; only such a run can be written"
        )
    count = 0
    with published(out, overwrite=overwrite) as draft:
        system, inner = file_system(draft)
        writers = []
        try:
            for partition in range(source.partitions):
                folder = f"{inner}/partition={partition}"
                system.create_dir(folder)
                writers.append(pq.ParquetWriter(f"{folder}/part-00000.parquet", _SCHEMA, filesystem=system))
            held: list[list[pa.Table]] = [[] for _ in writers]
            for events, service_s in _drawn(EventStream(source, seed), reader, seed):
                for partition, writer in enumerate(writers):
                    mine = np.flatnonzero(events.partition == partition)
                    held[partition].append(_table(events, service_s, mine, count))
                    if sum(len(table) for table in held[partition]) >= _ROW_GROUP_EVENTS:
                        writer.write_table(pa.concat_tables(held[partition]))
                        held[partition].clear()
                count += len(events.time_s)
            for writer, rest in zip(writers, held, strict=True):
                if rest:
                    writer.write_table(pa.concat_tables(rest))
        finally:
            for writer in writers:
                writer.close()
    return count


def _drawn(stream: EventStream, reader: GroupSpec, seed: int) -> "Iterator[tuple[Events, np.ndarray]]":
    # The same random stream that the simulated group draws its service times from.
    random = generator(seed, "service", reader.name)
    until_s = STEP_S
    while not stream.ended:
        events = stream.take(until_s)
        if len(events.time_s):
            service_s = reader.service.draw(len(events.time_s), events.size_bytes, random)
            yield events, np.broadcast_to(service_s, len(events.time_s))
        until_s += STEP_S


def _table(events: Events, service_s: np.ndarray, mine: np.ndarray, first: int) -> pa.Table:
    return pa.table(
        [
            pa.array(events.time_s[mine]),
            pa.array(mine + first),
            pa.nulls(len(mine), pa.binary()),
            pa.array(events.every_size_bytes()[mine].astype(np.int64)),
            pa.array(service_s[mine]),
        ],
        schema=_SCHEMA,
    )
