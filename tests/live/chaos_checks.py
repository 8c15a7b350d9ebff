"""What must hold whatever was killed or stopped, checked from what the consumer processes wrote down themselves."""

import json
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sluice.model import Partition


class Handled(NamedTuple):
    time_s: float
    offset: int


@dataclass
class Tenancy:
    """One process's time with one partition, under one epoch."""

    partition: Partition
    epoch: int
    process: str
    begin_s: float
    ended: bool = False
    """It let go in order: everything it has handled is committed."""
    events: list[Handled] = field(default_factory=list)


def read_tenancies(folder: Path) -> list[Tenancy]:
    """From the files of `recording_consumer.py`."""
    found: list[Tenancy] = []
    for path in sorted(folder.glob("*.jsonl")):
        found += tenancies_of(path.stem, path.read_text().splitlines())
    return found


def tenancies_of(process: str, lines: Iterable[str]) -> list[Tenancy]:
    found: list[Tenancy] = []
    current: dict[Partition, Tenancy] = {}
    for line in lines:
        try:
            time_s, kind, *rest = json.loads(line)
        except ValueError:
            continue  # killed while it wrote
        if kind == "event":
            partition = Partition.parse(rest[0])
            # An event without a tenancy is itself a breach; epoch -1 makes it one below.
            tenancy = current.get(partition) or Tenancy(partition, -1, process, time_s)
            if partition not in current:
                current[partition] = tenancy
                found.append(tenancy)
            tenancy.events.append(Handled(time_s, rest[1]))
        elif (words := str(rest[0]).split())[0] in ("begin", "end"):
            partition, epoch = Partition.parse(words[1]), int(words[3])
            if words[0] == "begin":
                current[partition] = Tenancy(partition, epoch, process, time_s)
                found.append(current[partition])
            elif partition in current and current[partition].epoch == epoch:
                current.pop(partition).ended = True
    return found


def breaches(tenancies: Iterable[Tenancy], ends: Mapping[Partition, int]) -> list[str]:
    """Everything that must not be, one line each; `ends` is how many events each partition got."""
    by_partition: dict[Partition, list[Tenancy]] = defaultdict(list)
    for tenancy in tenancies:
        by_partition[tenancy.partition].append(tenancy)
    found: list[str] = []
    for partition, count in ends.items():
        ordered = sorted(by_partition[partition], key=lambda t: t.epoch)
        found += _lost(partition, ordered, count)
        found += _two_owners(partition, ordered)
        found += _gaps(ordered)
        found += _needless_duplicates(partition, ordered)
    return found


def duplicates(tenancies: Iterable[Tenancy]) -> int:
    """How many times an event was handled again."""
    counts = Counter((t.partition, event.offset) for t in tenancies for event in t.events)
    return sum(count - 1 for count in counts.values())


def longest_standstill_s(tenancies: Iterable[Tenancy], away: Iterable[tuple[float, float]]) -> float:
    """The longest time between two events of a partition; the intervals in which the broker was away do not count."""
    absences = list(away)
    times: dict[Partition, list[float]] = defaultdict(list)
    for tenancy in tenancies:
        times[tenancy.partition] += [event.time_s for event in tenancy.events]
    return max(
        (
            end_s - begin_s - sum(max(min(end_s, back_s) - max(begin_s, gone_s), 0.0) for gone_s, back_s in absences)
            for each in times.values()
            for begin_s, end_s in pairwise(sorted(each))
        ),
        default=0.0,
    )


def _lost(partition: Partition, ordered: list[Tenancy], count: int) -> list[str]:
    handled = {event.offset for tenancy in ordered for event in tenancy.events}
    missing = sorted(set(range(count)) - handled)
    return [f"{partition}: {len(missing)} of {count} events never handled, the first {missing[0]}"] if missing else []


def _two_owners(partition: Partition, ordered: list[Tenancy]) -> list[str]:
    found = []
    next_begin_s = float("inf")
    for tenancy in reversed(ordered):
        late = [event for event in tenancy.events if event.time_s > next_begin_s]
        # Who wakes up after its lease may finish the event in hand.
        if len(late) > (0 if tenancy.ended else 1):
            found.append(f"{partition}: {tenancy.process} handled {len(late)} events after its successor had begun")
        if tenancy.begin_s > next_begin_s:
            found.append(f"{partition}: epoch {tenancy.epoch} began after a later one")
        if tenancy.epoch < 0:
            found.append(f"{partition}: {tenancy.process} handled events without having been given it")
        next_begin_s = min(next_begin_s, tenancy.begin_s)
    epochs = [tenancy.epoch for tenancy in ordered]
    if len(set(epochs)) < len(epochs):
        found.append(f"{partition}: an epoch was given twice")
    return found


def _gaps(ordered: list[Tenancy]) -> list[str]:
    found = []
    for tenancy in ordered:
        offsets = [event.offset for event in tenancy.events]
        if offsets and offsets != list(range(offsets[0], offsets[0] + len(offsets))):
            where = f"{tenancy.partition}, epoch {tenancy.epoch}"
            found.append(f"{where}: {tenancy.process} skipped or repeated events")
    return found


def _needless_duplicates(partition: Partition, ordered: list[Tenancy]) -> list[str]:
    """Again only what a tenancy that a fault broke off had handled without having committed it."""
    found = []
    by_whom: dict[int, Tenancy] = {}
    for tenancy in ordered:
        again = [by_whom[event.offset] for event in tenancy.events if event.offset in by_whom]
        orderly = sorted({earlier.process for earlier in again if earlier.ended})
        found += [f"{partition}: events of {process}, who let go in order, were handled again" for process in orderly]
        by_whom.update(dict.fromkeys([event.offset for event in tenancy.events], tenancy))
    return found


def commits_gone_back(commits: Iterable[tuple[Partition, int]]) -> list[str]:
    """Of commits in the order of the broker's log."""
    found = []
    highest: dict[Partition, int] = {}
    for partition, offset in commits:
        if offset < highest.get(partition, 0):
            found.append(f"{partition}: the committed offset went back from {highest[partition]} to {offset}")
        highest[partition] = max(offset, highest.get(partition, 0))
    return found


def decode_commit(key: bytes | None, value: bytes | None, group: str) -> tuple[Partition, int] | None:
    """A record of Kafka's own offsets topic; None when it is something else or of another group."""
    if key is None or value is None or struct.unpack_from(">h", key)[0] not in (0, 1):
        return None
    place, texts = 2, []
    for _ in range(2):
        (length,) = struct.unpack_from(">h", key, place)
        texts.append(key[place + 2 : place + 2 + length].decode())
        place += 2 + length
    (number,) = struct.unpack_from(">i", key, place)
    (offset,) = struct.unpack_from(">q", value, 2)
    return (Partition(texts[1], number), offset) if texts[0] == group else None
