"""What a managed consumer may read, and until when: pure, told what it hears and what time it is.

It holds a partition from the command that starts it until it has let go of it and said so. It may work only while
its lease runs (`sluice.model.commands` says how a beat renews it). A lease that has run out is renewed by the next beat
that comes back, unless the controller has given up on the consumer meanwhile: then it is evicted, and ends.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from sluice.model import Partition
from sluice.model.commands import Beat, Dismiss, Evict, Hold, Record, Reign, Release, Report, Start, Stop

# A controller that comes back later than this begins at the committed offset, which is the same place.
REMEMBER_RELEASE_S = 30.0


class Begin(NamedTuple):
    partition: Partition
    epoch: int
    offset: int | None
    stood_s: float | None


class End(NamedTuple):
    partition: Partition
    epoch: int


Change = Begin | End


@dataclass(slots=True)
class _Held:
    epoch: int
    reading: bool = False


@dataclass(frozen=True, slots=True)
class _Released:
    epoch: int
    offset: int | None
    stopped_at_s: float


class Tenure:
    """One consumer process's side of the agreement with the controller."""

    def __init__(self, *, consumer: str, instance: str, lease_s: float) -> None:
        self._consumer = consumer
        self._instance = instance
        self._lease_s = lease_s
        self._reign = Reign()
        self._applied = -1
        self._held: dict[Partition, _Held] = {}
        self._released: dict[Partition, _Released] = {}
        self._last_epoch: dict[Partition, int] = {}
        self._reports = 0
        self._beats = 0
        self._sent_at_s: dict[int, float] = {}
        self.lease_until_s = -math.inf
        self.evicted = False
        self.dismissed = False
        """Not needed any more."""
        self.leaving = False
        """True: nothing new is taken."""
        self.why: str | None = None

    @property
    def applied(self) -> int:
        """Offset of the last record read."""
        return self._applied

    @property
    def epoch(self) -> int:
        """The highest of what is held; 0 when nothing is."""
        return max((held.epoch for held in self._held.values()), default=0)

    def held(self) -> dict[Partition, int]:
        """What is held, and under which epoch."""
        return {partition: held.epoch for partition, held in self._held.items()}

    def read(self, offset: int, record: Record) -> tuple[Change, ...]:
        """One record of the log, in its order; what is to be done about it."""
        self._applied = offset
        if isinstance(record, Beat):
            if record.instance == self._instance:
                self._renew(record.number)
            return ()
        if not self._reign.accepts(record):
            return ()
        self._reign = self._reign.after(record)
        match record:
            case Start(instance=self._instance):
                return self._start(record)
            case Stop(instance=self._instance):
                held = self._held.get(record.partition)
                if held is not None and held.epoch == record.epoch:
                    return (End(record.partition, record.epoch),)
            case Evict(instance=self._instance):
                self.evicted = True
                self.lease_until_s = -math.inf
            case Dismiss(instance=self._instance):
                self.dismissed = True
        return ()

    def skip(self, offset: int) -> None:
        """A record that is of no concern to this consumer."""
        self._applied = offset

    def beat(self, now_s: float) -> Beat:
        """The next beat, to be sent at once: the lease it earns is counted from `now_s`."""
        self._beats += 1
        self._sent_at_s[self._beats] = now_s
        return Beat(instance=self._instance, number=self._beats)

    def began(self, partition: Partition, epoch: int) -> None:
        """The partition is being read now."""
        held = self._held.get(partition)
        if held is not None and held.epoch == epoch:
            held.reading = True

    def ended(self, partition: Partition, epoch: int, *, offset: int | None, stopped_at_s: float) -> None:
        """The partition is let go of: nothing of it is in work, and everything before `offset` is committed."""
        held = self._held.get(partition)
        if held is not None and held.epoch == epoch:
            del self._held[partition]
            self._released[partition] = _Released(epoch, offset, stopped_at_s)

    def report(self, now_s: float, *, ready: bool) -> Report:
        self._reports += 1
        for partition in [p for p, r in self._released.items() if now_s - r.stopped_at_s > REMEMBER_RELEASE_S]:
            del self._released[partition]
        return Report(
            consumer=self._consumer,
            instance=self._instance,
            number=self._reports,
            applied=self._applied,
            ready=ready,
            lease_s=self._lease_s,
            leaving=self.leaving,
            why=self.why,
            holds=tuple(Hold(partition=p, epoch=held.epoch, reading=held.reading) for p, held in self._held.items()),
            releases=tuple(
                Release(partition=p, epoch=r.epoch, offset=r.offset, stood_s=now_s - r.stopped_at_s)
                for p, r in self._released.items()
            ),
        )

    def _renew(self, number: int) -> None:
        sent_at_s = self._sent_at_s.get(number)
        if sent_at_s is None or self.evicted:
            return
        self.lease_until_s = max(self.lease_until_s, sent_at_s + self._lease_s)
        for old in [n for n in self._sent_at_s if n <= number]:
            del self._sent_at_s[old]

    def _start(self, start: Start) -> tuple[Change, ...]:
        partition = start.partition
        # A command that comes twice starts nothing twice.
        if start.epoch <= self._last_epoch.get(partition, -1) or self.evicted or self.leaving:
            return ()
        self._last_epoch[partition] = start.epoch
        self._released.pop(partition, None)
        held = self._held.get(partition)
        self._held[partition] = _Held(start.epoch)
        begin = Begin(partition, start.epoch, start.offset, start.stood_s)
        return (begin,) if held is None else (End(partition, held.epoch), begin)
