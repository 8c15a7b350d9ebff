"""Latency of a group that is reassigned every so often, in bytes: the model behind the comparison with Kafka's own.

Rates are constant within an iteration. A consumer keeps some partitions (its fixed queue) and has just received others
(its rebalanced queue, readable only after the pause). See docs/reproduction.md for the source.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import FloatArray, IntArray


def latency_samples(
    sizes_bps: FloatArray, owners: Sequence[IntArray], *, read_bps: float, iteration_s: float, pause_s: float
) -> FloatArray:
    """Latency of every byte written; `sizes_bps` has a row and `owners` an entry for each iteration."""
    if not read_bps > 0 or not iteration_s > 0:
        raise InputError(f"read_bps is {read_bps}, iteration_s {iteration_s}; both must be above 0")
    if len(sizes_bps) != len(owners):
        raise InputError(f"{len(sizes_bps)} rows of sizes for {len(owners)} assignments; give one of each an iteration")
    carried: dict[int, float] = {}
    parts: list[FloatArray] = []
    before = owners[0]
    for size, owner in zip(sizes_bps, owners, strict=True):
        last_s: dict[int, float] = {}
        for consumer in np.unique(owner).tolist():
            mine = owner == consumer
            kept = mine & (before == consumer)
            queues = list(
                _queues(
                    float(size[kept].sum()),
                    float(size[mine & ~kept].sum()),
                    bool((mine & ~kept).any()),
                    carried.get(consumer, 0.0),
                    read_bps,
                    iteration_s,
                    pause_s,
                )
            )
            parts += queues
            # What the consumer begins the next iteration with: the later of its two queues' last bytes.
            last_s[consumer] = max((float(queue[-1]) for queue in queues if len(queue)), default=0.0)
        carried, before = last_s, owner
    return np.concatenate(parts) if parts else np.empty(0)


def _queues(
    fixed_bps: float,
    moved_bps: float,
    rebalanced: bool,
    carried_s: float,
    read_bps: float,
    iteration_s: float,
    pause_s: float,
) -> Iterator[FloatArray]:
    """The fixed queue is read first, as fast as it is written; what is left of the consumer goes to the other."""
    fixed_read_bps = min(read_bps, fixed_bps) if rebalanced else read_bps
    yield queue_latency_s(fixed_bps, fixed_read_bps, carried_s, iteration_s)
    yield queue_latency_s(moved_bps, read_bps - fixed_read_bps, pause_s, iteration_s)


def queue_latency_s(written_bps: float, read_bps: float, start_s: float, iteration_s: float) -> FloatArray:
    """Latency of byte 1, 2, … of a queue whose first byte waits `start_s`."""
    byte = np.arange(1.0, np.floor(iteration_s * written_bps) + 1.0)
    if not len(byte):
        return byte
    if read_bps <= 0.0:
        # Nothing is read before the iteration ends: every byte waits for that at least.
        return start_s + iteration_s - byte / written_bps
    return np.maximum(0.0, (1.0 / read_bps - 1.0 / written_bps) * byte + start_s)
