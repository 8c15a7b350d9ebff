"""The managed consumer: reads what the controller has given it, works, commits; lets go when it is told to."""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Event as Flag

from sluice.errors import SluiceError
from sluice.model import Partition
from sluice.model.telemetry import Begun
from sluice.sdk.batching import Gathered
from sluice.sdk.event import Event
from sluice.sdk.handler import Worker
from sluice.sdk.managed_commit import Committer
from sluice.sdk.managed_control import Control
from sluice.sdk.managed_data import DataClient
from sluice.sdk.managed_lookup import OffsetLookup
from sluice.sdk.managed_tenure import Begin, End
from sluice.sdk.meter import Meter

# A command or a signal is noticed within this time by an idle consumer.
POLL_S = 0.005
# In the middle of a long batch the counters are brought up to date so often.
MEASURE_S = 0.25
LEAVE_LIMIT_S = 5.0
# A partition that is to be let go of is worked on while a commit is under way, but no longer than this.
REST_LIMIT_S = 0.05

_log = logging.getLogger("sluice.managed")


class EvictedError(SluiceError):
    """The controller has given this consumer up; it owns nothing any more and must be started anew."""


class ManagedConsumer:
    """The working thread. Before every event it looks at its lease, and whether something is to be let go of."""

    def __init__(
        self,
        *,
        data: DataClient,
        lookup: OffsetLookup,
        worker: Worker,
        meter: Meter,
        gathered: Gathered,
        max_poll_events: int,
        clock: Callable[[], float],
        stop: Flag,
    ) -> None:
        self._data = data
        self._worker = worker
        self._meter = meter
        self._gathered = gathered
        self._max_poll_events = max_poll_events
        self._clock = clock
        self._stop = stop
        self._active: dict[Partition, int] = {}
        self._fresh: dict[Partition, tuple[float, float]] = {}
        """Taken over, not yet read from: since when it stands still, and (wall clock) since when it is ours."""
        self._ending: dict[Partition, tuple[int, float]] = {}
        """To be let go of: its epoch, and when at the latest."""
        self._lookup = lookup
        self._looked_up: dict[Partition, int] = {}
        """Ours under this epoch, but where to begin is still being asked for."""
        self._in_hand: list[Event] = []
        self._measure_due_s = 0.0
        self._lapsed = False
        self._control: Control
        self._committer: Committer

    def join(self, control: Control, committer: Committer) -> None:
        """Who it listens to and commits with; committing needs `may_work` first."""
        self._control = control
        self._committer = committer

    def may_work(self) -> bool:
        return self._clock() < self._control.lease_until_s

    def run(self) -> None:
        """Until `stop` is set, the controller needs us no more or gives us up, or the handler fails for good."""
        why: str | None = None
        try:
            while not (self._stop.is_set() or self._control.dismissed):
                self._turn()
                if self._control.evicted or self._committer.fenced:
                    raise EvictedError("out of reach for longer than its lease; start this consumer again")
                if self._control.failure is not None:
                    raise self._control.failure
        except Exception as error:
            why = str(error) if isinstance(error, SluiceError) else f"{type(error).__name__}: {error}"
            raise
        finally:
            self._leave(why)

    def _turn(self) -> None:
        while self._control.changes:
            match self._control.changes.popleft():
                case Begin() as begin:
                    self._take(begin)
                case End(partition, epoch):
                    self._ending[partition] = (epoch, self._clock() + REST_LIMIT_S)
        while self._lookup.found:
            partition, epoch, offset = self._lookup.found.popleft()
            if self._looked_up.get(partition) == epoch:
                del self._looked_up[partition]
                self._read_from(partition, epoch, offset)
        if self._ending:
            self._end()
        if not self._has_lease():
            time.sleep(POLL_S / 2)
            return
        if not self._in_hand:
            self._gather()
        if self._in_hand:
            self._measure_due_s = self._clock() + MEASURE_S
            done = self._worker.work(self._in_hand, 0, self._interrupted)
            self._in_hand = self._in_hand[done:]
            if not self._in_hand:
                self._committer.submit(self._meter.positions)

    def _gather(self) -> None:
        wait_s = min(POLL_S, max(self._gathered.due_s - self._clock(), 0.0))
        events = self._data.poll(min(self._gathered.room, self._max_poll_events), wait_s)
        if events:
            self._meter.polled(len(events))
            self._gathered.add(events, self._clock())
            if self._fresh:
                self._first_read(events)
        if self._gathered.ready(self._clock()):
            self._in_hand = self._gathered.take()

    def _first_read(self, events: list[Event]) -> None:
        """What waited in a partition that was taken over shows how long the partition really stood still."""
        for event in events:
            since_s, ours_s = self._fresh.pop(event.partition, (0.0, 0.0))
            # An event that came later had nothing to wait for: then what the old owner said is the whole pause.
            if since_s and event.timestamp_s < ours_s:
                self._meter.pause_s = self._clock() - since_s
            if not self._fresh:
                return

    def _interrupted(self, now_s: float) -> bool:
        if now_s >= self._control.lease_until_s or now_s >= self._measure_due_s:
            return True
        if self._ending and self._committer.rests:
            return True
        return bool(self._control.changes) or self._stop.is_set()

    def _has_lease(self) -> bool:
        lapsed = not self.may_work()
        if lapsed != self._lapsed:
            self._lapsed = lapsed
            if self._active:
                _log.info("lease %s", "lapsed" if lapsed else "renewed")
        return not lapsed

    def _end(self) -> None:
        """Let go between two commits: the pause of a partition is then its own last commit, and no other before it."""
        rests, now_s = self._committer.rest(REST_LIMIT_S), self._clock()
        self._let_go({p: epoch for p, (epoch, due_s) in self._ending.items() if rests or now_s >= due_s})

    def _take(self, begin: Begin) -> None:
        """A partition is ours from here on."""
        partition, epoch, offset, stood_s = begin
        if partition in self._ending:
            self._let_go({partition: self._ending[partition][0]})
        _log.info("begin %s epoch %d offset %s", partition, epoch, offset)
        if stood_s is not None:
            self._fresh[partition] = (self._clock() - stood_s, time.time())
            self._meter.pause_s = stood_s
        self._active[partition] = epoch
        if offset is None:
            self._looked_up[partition] = epoch
            self._lookup.ask(partition, epoch)
        else:
            self._read_from(partition, epoch, offset)

    def _read_from(self, partition: Partition, epoch: int, offset: int | None) -> None:
        if offset is not None:
            self._committer.begun(partition, offset)
            self._meter.positions[partition] = offset
        self._meter.begun[partition] = Begun(offset, time.time())
        self._data.begin(partition, offset)
        self._control.began(partition, epoch)

    def _let_go(self, ending: Mapping[Partition, int]) -> None:
        """Stop, commit, and only then say so: the next owner begins where this one ended. Others go on meanwhile."""
        going = {p: epoch for p, epoch in ending.items() if self._active.get(p) == epoch}
        for partition in ending:
            self._ending.pop(partition, None)
        if not going:
            return
        stopped_at_s = self._clock()
        for partition in going:
            del self._active[partition]
            self._fresh.pop(partition, None)
            self._meter.begun.pop(partition, None)
            self._gathered.forget(partition)
        self._in_hand = [event for event in self._in_hand if event.partition not in going]

        def committed(partition: Partition, offset: int | None) -> None:
            _log.info("end %s epoch %d offset %s", partition, going[partition], offset)
            self._control.ended(partition, going[partition], offset=offset, stopped_at_s=stopped_at_s)

        self._committer.part({p: self._meter.positions.pop(p, None) for p in going}, committed)
        for partition in going:
            if self._looked_up.pop(partition, None) is None:
                self._data.end(partition)
            else:
                self._lookup.withdraw(partition)

    def _leave(self, why: str | None) -> None:
        """Drain: what is in hand is dropped uncommitted, what is done is committed and handed back."""
        deadline_s = self._clock() + LEAVE_LIMIT_S
        self._control.refuse(why)
        if not (self._control.evicted or self._committer.fenced):
            self._let_go(dict(self._active))
            self._committer.wait_parted(lambda: self._control.evicted or self._clock() > deadline_s)
        self._control.leave(LEAVE_LIMIT_S)
        self._committer.close()
        self._lookup.close()
        self._data.close()
