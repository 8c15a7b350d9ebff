"""The controller's side of managed consumers: pure, told what it reads and what time it is.

Whatever comes in, it looks at what is and at what is wanted, and takes every step that is allowed now
(`sluice.execute.steps`): nothing depends on a memory of what was under way. A partition may be given out only when
its last owner has said that it let go of it, or was evicted, has outlived its lease, and can no longer commit. How that
holds across controllers is told in `sluice.model.commands`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from sluice.execute.effects import Effect, Fence, Send, Spawn, Terminate
from sluice.execute.orders import Orders
from sluice.execute.roster import Member, Roster
from sluice.execute.steps import Await, Launch, Retire, StartReading, StopReading, steps, without
from sluice.execute.tenants import Handovers, Pause, Phase, Tenant, Tenants
from sluice.execute.timing import Timing
from sluice.model import Assignment, Partition
from sluice.model.commands import Beat, Closed, Command, Evict, Lead, Record, Reign, Report, Start


@dataclass(slots=True)
class Done:
    """What was achieved since somebody last asked."""

    started: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    startups_s: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Steward:
    """Reads the control topic, knows the target, says what to do next."""

    def __init__(self, *, leader: str, timing: Timing, new_instance: Callable[[], str]) -> None:
        self._leader = leader
        self._timing = timing
        self._new_instance = new_instance
        self._reign = Reign()
        self._orders: Orders | None = None
        self._leads = False
        self._epoch = 0
        self._tenants = Tenants()
        self._roster = Roster(timing)
        self._handovers = Handovers()
        self._target: Assignment | None = None
        self._waiting_since_s: float | None = None
        self._beats = 0
        self._beat_due_s = 0.0
        self._out: list[Effect] = []
        self._done = Done()
        self.deposed = False

    @property
    def leading(self) -> bool:
        return self._leads and not self.deposed

    @property
    def target(self) -> Assignment | None:
        return self._target

    @property
    def settled(self) -> bool:
        """What is wanted is what is."""
        target = self._target
        return (
            self.leading
            and target is not None
            and all(tenant.phase is Phase.READING for tenant in self._tenants.values())
            and not any(member.lost or member.retiring for member in self._roster)
            and all(self._roster.ready(name) for name in target.consumers)
            and self.assignment(target.partitions).same_as(target)
        )

    def assignment(self, partitions: tuple[Partition, ...]) -> Assignment:
        """Who has which of these partitions, as it is."""
        owned: dict[str, list[Partition]] = {name: [] for name in self._roster.present()}
        for partition in partitions:
            tenant = self._tenants.get(partition)
            if tenant is not None and tenant.phase is not Phase.LOST:
                owned.setdefault(tenant.consumer, []).append(partition)
        return Assignment.of(owned, partitions=partitions)

    def under_way(self) -> str:
        """What is still missing, in one line."""
        waiting = [name for name in self._target.consumers if not self._roster.ready(name)] if self._target else []
        unfinished = [str(p) for p, t in sorted(self._tenants.items()) if t.phase is not Phase.READING]
        parts = [f"{', '.join(waiting)} not ready"] if waiting else []
        parts += [f"{', '.join(unfinished)} changing hands"] if unfinished else []
        return "; ".join(parts) or "on its way"

    def instances(self) -> list[str]:
        """Every process that is there, or is thought to be."""
        return self._roster.instances()

    def take_effects(self) -> tuple[Effect, ...]:
        """What is to be done now, in this order."""
        effects = () if self.deposed else tuple(self._out)
        self._out.clear()
        return effects

    def take_done(self) -> Done:
        done, self._done = self._done, Done()
        return done

    def claim(self, now_s: float) -> None:
        """Take the lead; to be called when the log has been read to its end."""
        self._orders = Orders(self._leader, self._reign.term + 1)
        self._send(self._orders.lead())
        self.tick(now_s)

    def aim(self, target: Assignment, now_s: float) -> None:
        """What is wanted from now on."""
        if self._target is None or self._target.partitions != target.partitions or not self._target.same_as(target):
            self._target = target
            self._waiting_since_s = None
            self._reconcile(now_s)

    def tick(self, now_s: float) -> None:
        """Time has passed."""
        if self._orders is not None and now_s >= self._beat_due_s:
            self._beats += 1
            self._beat_due_s = now_s + self._timing.heartbeat_s
            self._send(Beat(instance=self._leader, number=self._beats))
        if not self.leading:
            return
        for silent in self._roster.silent(now_s):
            self._lose(silent, f"{silent.consumer} was silent for {self._timing.silence_s:g} s")
        for tenant in list(self._tenants.values()):
            stuck = tenant.phase is Phase.STOPPING and now_s - tenant.stopping_since_s > self._timing.stop_limit_s
            if stuck and (member := self._roster.get(tenant.instance)) is not None:
                self._lose(member, f"{member.consumer} did not stop within {self._timing.stop_limit_s:g} s")
        self._free_lost(now_s)
        self._reconcile(now_s)

    def read(self, offset: int, record: Record, now_s: float) -> None:
        """One record of the log of commands, in its order; our own come back here too."""
        if isinstance(record, Beat):
            if record.instance == self._leader:
                self._roster.echo(now_s)
            else:
                self._roster.beat(record.instance, now_s)
        elif self._reign.accepts(record):
            self._reign = self._reign.after(record)
            if self._is_ours(record):
                self._read_own(offset, record, now_s)
            else:
                self._read_other(offset, record)
        elif self._is_ours(record):
            self.deposed = True  # somebody else has taken the lead before this came into the log

    def report(self, report: Report, now_s: float) -> None:
        """What a consumer says of itself."""
        if not self.leading:
            return
        member = self._roster.get(report.instance) or self._newcomer(report, now_s)
        if member is None or member.lost:
            return
        member.lease_s = report.lease_s
        if report.ready and not member.ready:
            startup_s = self._roster.became_ready(member, now_s)
            self._done.startups_s += [] if startup_s is None else [startup_s]
        self._settle_accounts(member, report, now_s)
        if report.leaving and not report.holds:
            if member.retiring:
                self._done.retired.append(member.consumer)
            elif report.why is not None:
                self._done.problems.append(f"{member.consumer} left: {report.why}")
                self._roster.left.failed(member.consumer, now_s)
            self._close(member)
        self._reconcile(now_s)

    def gone(self, instance: str, now_s: float, last_words: Callable[[], str | None] = lambda: None) -> None:
        """A process has certainly ended: there is no lease to wait for. May be said more than once."""
        member = self._roster.get(instance)
        new = member is None or not member.lost
        if new and (consumer := self._roster.ended(instance, now_s)) is not None:
            said = last_words()
            self._done.problems.append(f"{consumer} ended while it was starting{f': {said}' if said else ''}")
        if member is not None:
            if member.retiring and not member.lost:
                self._done.retired.append(member.consumer)
            self._lose(member, None if member.retiring else f"{member.consumer} ended")
            member.free_s = min(member.free_s, now_s)
            self._free_lost(now_s)
        self._reconcile(now_s)

    def fenced(self, instance: str, now_s: float) -> None:
        """The broker refuses whatever this process may still commit."""
        member = self._roster.get(instance)
        if member is not None:
            member.fenced = True
            self._free_lost(now_s)
            self._reconcile(now_s)

    def _send(self, record: Record) -> None:
        self._out.append(Send(record))

    def _order(self, written: Callable[[Orders], Command]) -> None:
        if self._orders is not None:
            self._send(written(self._orders))

    def _is_ours(self, command: Command) -> bool:
        return self._orders is not None and (command.leader, command.term) == (self._leader, self._orders.term)

    def _read_own(self, offset: int, command: Command, now_s: float) -> None:
        match command:
            case Lead():
                self._leads = True
                for tenant in self._tenants.values():
                    self._roster.adopt(tenant.consumer, tenant.instance, tenant.lease_s, now_s)
            case Start():
                given = self._tenants.get(command.partition)
                if given is not None and given.epoch == command.epoch:
                    given.started_at = offset
            case Evict():
                member = self._roster.get(command.instance)
                if member is not None and member.lost:
                    member.free_s = min(member.free_s, now_s + member.lease_s + self._timing.margin_s)
        self._reconcile(now_s)

    def _read_other(self, offset: int, command: Command) -> None:
        if self._orders is not None and command.term >= self._orders.term:
            self.deposed = True
        match command:
            case Start():
                self._epoch = max(self._epoch, command.epoch)
                self._tenants[command.partition] = Tenant(
                    command.consumer, command.instance, command.epoch, command.lease_s, Phase.UNKNOWN, offset
                )
            case Closed():
                self._roster.close(command.instance)
                self._tenants.drop(command.instance)

    def _newcomer(self, report: Report, now_s: float) -> Member | None:
        surplus = self._roster.is_surplus(report.instance, now_s)
        if self._roster.is_closed(report.instance) or report.holds or surplus:
            # It was given up, holds what nobody gave it, or two controllers have started it at the same time.
            if self._roster.turn_away(report.instance, now_s):
                self._order(lambda orders: orders.evict(report.consumer, report.instance))
            return None
        if report.leaving or (member := self._roster.admit(report, now_s)) is None:
            return None
        self._done.started.append(member.consumer)
        return member

    def _settle_accounts(self, member: Member, report: Report, now_s: float) -> None:
        holds = {(hold.partition, hold.epoch): hold for hold in report.holds}
        releases = {(release.partition, release.epoch): release for release in report.releases}
        for partition, tenant in self._tenants.of(member.instance):
            hold = holds.pop((partition, tenant.epoch), None)
            if hold is None:
                # Not held, though the command that gave it has been read: it was let go of.
                if tenant.started_at is not None and report.applied >= tenant.started_at:
                    del self._tenants[partition]
                    if (release := releases.get((partition, tenant.epoch))) is not None:
                        self._handovers.released(release, now_s)
            elif tenant.phase in (Phase.UNKNOWN, Phase.STARTING):
                tenant.phase = Phase.READING if hold.reading else Phase.STARTING
                if hold.reading and (pause := self._handovers.reading(partition, now_s)) is not None:
                    self._done.pauses.append(pause)
        if holds:
            self._lose(member, f"{member.consumer} holds {next(iter(holds))[0]}, which nobody gave it")

    def _lose(self, member: Member, why: str | None) -> None:
        if member.lost:
            return
        member.lost = True
        for partition, tenant in self._tenants.of(member.instance):
            tenant.phase = Phase.LOST
            self._handovers.forget(partition)
        self._done.problems += [] if why is None else [why]
        self._order(lambda orders: orders.evict(member.consumer, member.instance))
        self._out.append(Fence(member.consumer, member.instance))
        self._out.append(Terminate(member.consumer, member.instance))

    def _free_lost(self, now_s: float) -> None:
        for member in self._roster:
            if member.lost and member.fenced and now_s >= member.free_s:
                self._close(member)

    def _close(self, member: Member) -> None:
        self._tenants.drop(member.instance)
        self._roster.close(member.instance)
        self._order(lambda orders: orders.closed(member.consumer, member.instance))

    def _reconcile(self, now_s: float) -> None:
        target = self._target
        if target is None or not self.leading:
            return
        for step in steps(self.assignment(target.partitions), target):
            match step:
                case Launch(consumer):
                    self._spawn(consumer, now_s)
                case Await(consumers):
                    if waiting := [name for name in consumers if self._roster.ready(name) is None]:
                        self._wait_for(waiting, now_s)
                        break
                    self._waiting_since_s = None
                case StopReading(partition, _):
                    self._stop(partition, now_s)
                case StartReading(partition, consumer):
                    self._start(partition, consumer, now_s)
                case Retire(consumer):
                    self._retire(consumer, now_s)

    def _spawn(self, consumer: str, now_s: float) -> None:
        if self._roster.may_spawn(consumer, now_s):
            instance = self._new_instance()
            self._roster.spawned(consumer, instance, now_s)
            self._out.append(Spawn(consumer, instance))

    def _wait_for(self, consumers: list[str], now_s: float) -> None:
        if self._waiting_since_s is None:
            self._waiting_since_s = now_s
        if now_s - self._waiting_since_s <= self._timing.startup_limit_s or self._target is None:
            return
        self._waiting_since_s = now_s
        for consumer in consumers:
            self._done.problems.append(f"{consumer} was not ready within {self._timing.startup_limit_s:g} s")
            if (instance := self._roster.give_up(consumer)) is not None:
                self._out.append(Terminate(consumer, instance))
            self._target = without(self._target, consumer)

    def _stop(self, partition: Partition, now_s: float) -> None:
        tenant = self._tenants[partition]
        if tenant.phase is Phase.READING:
            tenant.phase, tenant.stopping_since_s = Phase.STOPPING, now_s
            self._order(lambda o: o.stop(tenant.consumer, tenant.instance, partition, epoch=tenant.epoch))

    def _start(self, partition: Partition, consumer: str, now_s: float) -> None:
        member = self._roster.ready(consumer)
        if member is None or partition in self._tenants:
            return
        self._epoch += 1
        epoch, offset = self._epoch, self._handovers.take_offset(partition)
        stood_s = self._handovers.stood_s(partition, now_s)
        self._tenants[partition] = Tenant(consumer, member.instance, epoch, member.lease_s, Phase.STARTING)
        self._order(lambda orders: orders.start(member, partition, epoch=epoch, offset=offset, stood_s=stood_s))

    def _retire(self, consumer: str, now_s: float) -> None:
        """By a signal, and by the log: it may run on another machine, or have been started by hand."""
        for member in self._roster:
            idle = next(self._tenants.of(member.instance), None) is None
            if member.consumer == consumer and idle and not member.lost:
                if not member.retiring:
                    member.retiring = True
                    self._out.append(Terminate(consumer, member.instance))
                if self._roster.turn_away(member.instance, now_s):
                    self._dismiss(member)

    def _dismiss(self, member: Member) -> None:
        self._order(lambda orders: orders.dismiss(member.consumer, member.instance))
