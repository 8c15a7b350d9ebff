"""Controllers and managed consumers on paper: a log, delays, crashes and freezes in virtual time.

Everything that matters is checked at every instant, from outside: who may work on which partition, and whether a
committed offset ever goes back.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from sluice.execute.effects import Effect, Fence, Send, Spawn, Terminate
from sluice.execute.steward import Steward
from sluice.execute.timing import Timing
from sluice.model import Assignment, Partition
from sluice.model.commands import Record, Report
from sluice.sdk.managed_tenure import Begin, Change, End, Tenure

STEP_S = 0.05
# Longer than the silence after which a consumer is given up: what is tested must not be hidden by mere slowness.
LEASE_S = 1.5
TIMING = Timing(heartbeat_s=0.2, silence_s=0.6, margin_s=0.1, startup_limit_s=4.0, stop_limit_s=8.0, backoff_s=0.2)


@dataclass
class Consumer:
    """A process: one thread that reads commands and beats, one that works."""

    world: "World"
    name: str
    instance: str
    ready_s: float
    tenure: Tenure = field(init=False)
    place: int = 0
    alive: bool = True
    frozen: bool = False
    cut: bool = False
    """Off the network: it works on with what it has, as long as its lease lets it."""
    elsewhere: bool = False
    """On another machine than the controllers: no signal reaches it, and nobody is told that it has ended."""
    leaving: bool = False
    active: dict[Partition, int] = field(default_factory=dict)
    position: dict[Partition, int] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    commits: list[tuple[float, Partition, int]] = field(default_factory=list)
    beat_s: float = 0.0

    def __post_init__(self) -> None:
        self.tenure = Tenure(consumer=self.name, instance=self.instance, lease_s=LEASE_S)

    def may_work(self, partition: Partition) -> bool:
        return self.alive and partition in self.active and self.world.now_s < self.tenure.lease_until_s

    def step(self, random: Random) -> None:
        world = self.world
        for place, record in [] if self.cut else world.log_from(self.place, random):
            self.changes += self.tenure.read(place, record)
            self.place = place + 1
        if world.now_s >= self.beat_s:
            self.beat_s = world.now_s + 0.2
            beat = self.tenure.beat(world.now_s)
            if not self.cut:
                world.send(self.instance, beat)
            self._report()
        if random.random() < 0.7:
            self._work(random)

    def _report(self) -> None:
        ready = self.world.now_s >= self.ready_s
        if not self.cut:
            self.world.tell(self.tenure.report(self.world.now_s, ready=ready))

    def _work(self, random: Random) -> None:
        world = self.world
        if self.tenure.evicted:
            self.alive = False
            return
        while self.changes:
            match self.changes.pop(0):
                case Begin(partition, epoch, offset, _):
                    if self.tenure.held().get(partition) == epoch:
                        self.active[partition] = epoch
                        self.position[partition] = world.committed[partition] if offset is None else offset
                        self.tenure.began(partition, epoch)
                case End(partition, epoch):
                    self._let_go(partition, epoch)
            self._report()
        if (self.leaving or self.tenure.dismissed) and not self.cut:
            self.tenure.leaving = True
            for partition, epoch in list(self.tenure.held().items()):
                self._let_go(partition, epoch)
            self._report()
            self.alive = False
            return
        for partition in [p for p in self.active if self.may_work(p)]:
            self.position[partition] += random.randrange(3)
            # One commit at a time; it is on its way for a while, even after its consumer has died.
            if not self.cut and not any(c[1:3] == (self.instance, partition) for c in world.commits):
                due_s = world.now_s + random.random() * 3
                world.commits.append((due_s, self.instance, partition, self.position[partition]))

    def _let_go(self, partition: Partition, epoch: int) -> None:
        if self.active.pop(partition, None) is not None:
            # Nothing of it may still be under way when the release is told.
            self.world.commits = [c for c in self.world.commits if c[1:3] != (self.instance, partition)]
            self.world.commit(self.instance, partition, self.position[partition])
        self.tenure.ended(partition, epoch, offset=self.position.get(partition), stopped_at_s=self.world.now_s)


@dataclass
class Controller:
    world: "World"
    steward: Steward
    place: int = 0
    heard: int = 0
    alive: bool = True
    frozen: bool = False
    fences: list[tuple[float, str]] = field(default_factory=list)

    def step(self, random: Random) -> None:
        world, steward = self.world, self.steward
        for place, record in world.log_from(self.place, random):
            steward.read(place, record, world.now_s)
            self.place = place + 1
        for report in world.reports_from(self.heard, random):
            steward.report(report, world.now_s)
            self.heard += 1
        for instance in [i for due_s, i in self.fences if due_s <= world.now_s]:
            self.fences = [f for f in self.fences if f[1] != instance]
            world.fenced.add(instance)
            steward.fenced(instance, world.now_s)
        if random.random() < 0.5:
            for consumer in world.consumers:
                if not consumer.alive and not consumer.elsewhere:
                    steward.gone(consumer.instance, world.now_s)
        steward.tick(world.now_s)
        for effect in steward.take_effects():
            self._carry_out(effect, random)

    def _carry_out(self, effect: Effect, random: Random) -> None:
        world = self.world
        match effect:
            case Send(record):
                world.send(str(id(self)), record)
            case Fence(_, instance):
                self.fences.append((world.now_s + random.random(), instance))
            case Spawn(name, instance):
                ready_s = world.now_s + random.random() * world.slowest_start_s
                elsewhere = random.random() < 0.3
                world.consumers.append(Consumer(world, name, instance, ready_s, elsewhere=elsewhere))
            case Terminate(_, instance):
                for consumer in world.consumers:
                    if consumer.instance == instance and not consumer.elsewhere:
                        consumer.leaving = True


class World:
    """Everything, and what must always hold."""

    def __init__(self, partitions: int, seed: int) -> None:
        self.random = Random(seed)
        self.now_s = 100.0
        self.partitions = tuple(Partition("t", i) for i in range(partitions))
        self.log: list[Record] = []
        self.reports: list[Report] = []
        self.consumers: list[Consumer] = []
        self.controllers: list[Controller] = []
        self.committed = dict.fromkeys(self.partitions, 0)
        self.commits: list[tuple[float, str, Partition, int]] = []
        self.fenced: set[str] = set()
        self.slowest_start_s = 1.0
        self.broker_up = True
        self._on_the_way: list[tuple[float, str, Record]] = []
        self._numbers = 0

    def new_controller(self) -> Controller:
        self._numbers += 1
        steward = Steward(leader=f"k{self._numbers}", timing=TIMING, new_instance=self._new_instance)
        controller = Controller(self, steward)
        while controller.place < len(self.log):
            steward.read(controller.place, self.log[controller.place], self.now_s)
            controller.place += 1
        controller.heard = len(self.reports)
        steward.claim(self.now_s)
        self.controllers.append(controller)
        return controller

    def leader(self) -> Controller | None:
        return next((c for c in self.controllers if c.alive and c.steward.leading), None)

    def send(self, sender: str, record: Record) -> None:
        # One sender's records keep their order; different senders overtake each other.
        last_s = max((due_s for due_s, who, _ in self._on_the_way if who == sender), default=0.0)
        self._on_the_way.append((max(last_s, self.now_s + self.random.random() * 0.2), sender, record))

    def tell(self, report: Report) -> None:
        if self.broker_up:
            self.reports.append(report)

    def log_from(self, place: int, random: Random) -> list[tuple[int, Record]]:
        if not self.broker_up or random.random() < 0.2:
            return []
        return list(enumerate(self.log[place : place + random.choice((1, 5, 100))], start=place))

    def reports_from(self, place: int, random: Random) -> list[Report]:
        return self.reports[place : place + random.choice((1, 20))] if self.broker_up else []

    def commit(self, instance: str, partition: Partition, offset: int) -> None:
        if instance in self.fenced:
            return
        before = self.committed[partition]
        assert offset >= before, f"{partition} went back from {before} to {offset}"
        self.committed[partition] = offset

    def churn(self, seconds: float) -> None:
        """The leader changes its mind all the time."""
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            leader = self.leader()
            if leader is not None and not leader.frozen and self.random.random() < 0.1:
                leader.steward.aim(self.any_target(), self.now_s)
            self.step()

    def any_target(self) -> Assignment:
        owned: dict[str, list[Partition]] = {}
        for partition in self.partitions:
            owned.setdefault(f"c{self.random.randrange(4)}", []).append(partition)
        return Assignment.of(owned, partitions=self.partitions)

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            if until():
                return True
            self.step()
        return until()

    def step(self) -> None:
        self.now_s += STEP_S
        if self.broker_up:
            arrived = sorted((m for m in self._on_the_way if m[0] <= self.now_s), key=lambda m: m[0])
            self._on_the_way = [m for m in self._on_the_way if m[0] > self.now_s]
            self.log += [record for _, _, record in arrived]
            for commit in [c for c in self.commits if c[0] <= self.now_s]:
                self.commits.remove(commit)
                self.commit(*commit[1:])
        actors: list[Consumer | Controller] = [*self.consumers, *self.controllers]
        self.random.shuffle(actors)
        for actor in actors:
            if actor.alive and not actor.frozen:
                actor.step(self.random)
                self.check()

    def check(self) -> None:
        for partition in self.partitions:
            owners = [c.instance for c in self.consumers if c.may_work(partition)]
            assert len(owners) <= 1, f"{partition} has owners {owners} at {self.now_s:.2f}"

    def reached(self, target: Assignment) -> bool:
        """The living consumers work on exactly what the target gives them, and nobody else is left."""
        leader = self.leader()
        if leader is None or not leader.steward.settled:
            return False
        living = [c for c in self.consumers if c.alive]
        working = {c.name: {p for p in self.partitions if c.may_work(p)} for c in living}
        return len(living) == len(working) and working == {n: set(held) for n, held in target.owned().items()}

    def _new_instance(self) -> str:
        self._numbers += 1
        return f"i{self._numbers}"
