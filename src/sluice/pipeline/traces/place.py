"""Which partition an event goes to: by its key as Kafka does it, or with a skew put in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.pandas.functions import arrow_udf

from sluice.errors import InputError

# The kind of function follows from its annotations, which the published types do not know yet.
_arrow_udf: Any = arrow_udf


class Placement(Protocol):
    """A rule of partition choice: adds the column `partition` (and may change the key)."""

    def place(self, events: DataFrame, partitions: int) -> DataFrame: ...


@dataclass(frozen=True, slots=True)
class ByKey:
    """Kafka's own choice; events without a key are dealt out, rates one after the other, logs by chance."""

    def place(self, events: DataFrame, partitions: int) -> DataFrame:
        dealt = fn.coalesce(fn.pmod(fn.col("index"), fn.lit(partitions)), fn.floor(fn.col("draw") * partitions)).cast(
            "int"
        )
        if "key" not in events.columns:
            return events.withColumn("partition", dealt)
        return events.withColumn("partition", fn.coalesce(kafka_partition(fn.col("key"), partitions), dealt))


@dataclass(frozen=True, slots=True, kw_only=True)
class HotPartitions:
    """`share_ratio` of the events go to the first `hot` partitions, the rest to the others, each part evenly."""

    hot: int
    share_ratio: float

    def place(self, events: DataFrame, partitions: int) -> DataFrame:
        if not 0 < self.hot < partitions:
            raise InputError(f"hot partitions are {self.hot} of {partitions}; leave at least one on either side")
        if not 0 < self.share_ratio < 1:
            raise InputError(f"share of the hot partitions is {self.share_ratio}; give a number between 0 and 1")
        draw, share, hot = fn.col("draw"), fn.lit(self.share_ratio), fn.lit(self.hot)
        cold = hot + fn.floor((draw - share) / (1 - share) * (partitions - self.hot))
        chosen = fn.when(draw < share, fn.floor(draw / share * hot)).otherwise(cold)
        return events.withColumn("partition", chosen.cast("int"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ZipfKeys:
    """New keys `k1`, `k2`, … by Zipf's law in place of the log's own, then Kafka's choice."""

    keys: int
    exponent: float

    def place(self, events: DataFrame, partitions: int) -> DataFrame:
        if self.keys < 1 or self.exponent < 0:
            raise InputError(f"zipf has {self.keys} keys, exponent {self.exponent}; give at least 1 key and at least 0")
        drawn = _zipf_rank(fn.col("draw"), self.keys, self.exponent)
        keyed = events.withColumn("key", fn.concat(fn.lit("k"), drawn.cast("string")).cast("binary"))
        return keyed.withColumn("partition", kafka_partition(fn.col("key"), partitions))


def kafka_partition(key: Column, partitions: int) -> Column:
    """The partition Kafka's Java client chooses for a key (murmur2); NULL for no key."""

    def choose(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        from sluice.theory.murmur2 import partitions_of_keys

        for keys in batches:
            data, offsets = _bytes_of(keys)
            chosen = partitions_of_keys(data, offsets, partitions).astype(np.int32)
            yield pa.array(chosen, mask=keys.is_null().to_numpy(zero_copy_only=False))

    chosen: Column = _arrow_udf(choose, "int")(key)
    return chosen


def _bytes_of(keys: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    _, offsets, data = keys.buffers()
    starts = np.frombuffer(offsets, dtype=np.int32)[keys.offset : keys.offset + len(keys) + 1]
    return np.frombuffer(data if data is not None else b"", dtype=np.uint8), starts


def _zipf_rank(draw: Column, keys: int, exponent: float) -> Column:
    """The rank (1 is the most frequent) whose share of the distribution covers `draw`."""

    def rank(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        share = np.arange(1, keys + 1, dtype=np.float64) ** -exponent
        upto = np.cumsum(share / share.sum())
        upto[-1] = 1.0
        for draws in batches:
            yield pa.array(np.searchsorted(upto, draws.to_numpy(), side="right") + 1)

    drawn: Column = _arrow_udf(rank, "long")(draw)
    return drawn
