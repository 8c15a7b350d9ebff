"""Packers compared on a recorded stream of partition sizes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sluice.errors import InputError, did_you_mean
from sluice.lab.measurements import Measurement
from sluice.model import Partition
from sluice.theory.packing import PACKERS, Packer, cbs, exact_packing, pareto_front, rscore

EXACT = "exact"
ALGORITHMS = (*PACKERS, EXACT)


class Order(StrEnum):
    """The order in which the fits that do not sort take the partitions; ties follow it in all of them."""

    ID = "ID"
    AS_GIVEN = "as-given"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackingRow:
    """What one algorithm made of a stream, means over its measurements."""

    algorithm: str
    mean_consumers: float
    mean_rscore: float
    mean_reassignments: float
    cbs: float
    """Consumers more than the fewest of any algorithm compared, as a share of these."""
    on_pareto_front: bool
    """No algorithm compared has both a lower CBS and a lower Rscore."""


@dataclass(frozen=True, slots=True)
class _Replay:
    consumers: tuple[int, ...]
    rscore: float
    reassignments: float


def compare_packers(
    stream: Sequence[Measurement],
    algorithms: Sequence[str],
    capacity: float,
    *,
    order: Order = Order.ID,
    time_limit_s: float = np.inf,
    on_step: Callable[[float], None] = lambda done: None,
) -> tuple[PackingRow, ...]:
    """One row an algorithm. `time_limit_s` bounds each step of `exact`; `on_step` hears how many steps are done."""
    for name in algorithms:
        if name not in ALGORITHMS:
            raise InputError(f"no packing algorithm is called {name!r}; {did_you_mean(name, ALGORITHMS)}")
    if not capacity > 0.0:
        raise InputError(f"capacity is {capacity}; give a number above 0")
    replays: dict[str, _Replay] = {}
    for name in dict.fromkeys(algorithms):
        done = len(replays) * len(stream)
        replays[name] = _replay(stream, _packer(name, time_limit_s), capacity, order, on_step, done)
    excess = cbs({name: replay.consumers for name, replay in replays.items()})
    front = pareto_front([(excess[name], replay.rscore) for name, replay in replays.items()])
    return tuple(
        PackingRow(
            algorithm=name,
            mean_consumers=float(np.mean(replay.consumers)),
            mean_rscore=replay.rscore,
            mean_reassignments=replay.reassignments,
            cbs=excess[name],
            on_pareto_front=on_front,
        )
        for (name, replay), on_front in zip(replays.items(), front.tolist(), strict=True)
    )


def _packer(name: str, time_limit_s: float) -> Packer:
    if name != EXACT:
        return PACKERS[name]
    return lambda size, owner, capacity: exact_packing(size, capacity, owner=owner, time_limit_s=time_limit_s)


def _replay(
    stream: Sequence[Measurement],
    pack: Packer,
    capacity: float,
    order: Order,
    on_step: Callable[[float], None],
    done: int,
) -> _Replay:
    owners: dict[Partition, int] = {}
    consumers: list[int] = []
    moved_load = moved = 0.0
    for number, measured in enumerate(stream):
        names = sorted(measured) if order is Order.ID else list(measured)
        size = np.array([measured[name] for name in names])
        before = np.array([owners.get(name, -1) for name in names], dtype=np.int64)
        try:
            after = pack(size, before, capacity)
        except InputError as error:
            raise InputError(f"measurement {number}: {error}") from None
        moved_load += rscore(size, before, after, capacity)
        moved += int(np.count_nonzero((before >= 0) & (before != after)))
        consumers.append(len(np.unique(after)))
        # A partition that is not measured has left; if it comes back it is new.
        owners = dict(zip(names, after.tolist(), strict=True))
        on_step(done + number + 1)
    return _Replay(tuple(consumers), moved_load / len(stream), moved / len(stream))
