"""The same consumer group, written the usual way: a SimPy process and a store for each consumer, a timeout an event.

An independent model to check the compiled one against, event by event, and to measure it against. It knows the eager
protocol (batches in work are finished, then all stand still) and shows the control loop the same monitor and executor.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

import numpy as np
import simpy

from sluice.execute.base import Executor
from sluice.model import Action, Assignment, ConsumerReports, Partition, Plan, Receipt, Snapshot
from sluice.model.values import floats, ints
from sluice.monitor.base import Monitor
from sluice.simulate.stream import Events

Process = Generator[simpy.Event, Any, None]


class Loop(Protocol):
    def tick(self) -> object: ...


class SimpyGroup:
    """One group over `events`; `latency_s[i]` is the latency of event i once `run` is over."""

    def __init__(self, events: Events, *, partitions: int, service_s: float, rebalance_s: float, max_poll: int) -> None:
        self.env = simpy.Environment()
        self._events = events
        self._service_s = service_s
        self._rebalance_s = rebalance_s
        self.max_poll = max_poll
        names = tuple(Partition("t", i) for i in range(partitions))
        self.assignment = Assignment(partitions=names, consumers=("c0",), owner=ints([0] * partitions))
        self.latency_s = np.full(len(events.time_s), np.nan)
        self.consumer_of = np.empty(len(events.time_s), dtype=object)
        self.arrived = [0] * partitions
        self.arrived_bytes = [0.0] * partitions
        self.processed = [0] * partitions
        self.committed = [0] * partitions
        self._standing = False
        self._waiting: list[int] = []
        self._consumers = {"c0": _Consumer(self, "c0")}

    def run(self, make_loop: Callable[[Monitor, Executor], Loop], *, duration_s: float, interval_s: float) -> None:
        loop = make_loop(self, self)
        self.env.process(self._produce())
        self.env.process(self._control(loop, round(duration_s / interval_s), interval_s))
        self.env.run()

    def observe(self) -> tuple[Snapshot, ...]:
        snapshot = Snapshot(
            group="g",
            time_s=self.env.now,
            assignment=self.assignment,
            end_events=floats(self.arrived),
            committed_events=floats(self.committed),
            processed_events=floats(self.processed),
            end_bytes=floats(self.arrived_bytes),
            reports=ConsumerReports(
                counters=floats([self._consumers[name].counters() for name in self.assignment.consumers]).T
            ),
        )
        return (snapshot,)

    def apply(self, plan: Plan) -> Receipt:
        if plan.action is Action.HOLD:
            return Receipt(time_s=self.env.now, action=Action.HOLD)
        self.env.process(self._rebalance(plan.target))
        return Receipt(time_s=self.env.now, action=plan.action)

    def serve(self, consumer: "_Consumer", batch: Sequence[int]) -> Process:
        for event in batch:
            service_s = self._service_s
            yield self.env.timeout(service_s)
            latency_s = self.env.now - self._events.time_s[event]
            self.latency_s[event] = latency_s
            self.consumer_of[event] = consumer.name
            self.processed[self._events.partition[event]] += 1
            consumer.processed += 1
            consumer.busy_s += service_s
            consumer.busy_s2 += service_s * service_s
            consumer.latency_s += latency_s
        for event in batch:
            self.committed[self._events.partition[event]] += 1

    def _produce(self) -> Process:
        events = zip(self._events.time_s, self._events.partition, self._events.every_size_bytes(), strict=True)
        for event, (time_s, partition, size_bytes) in enumerate(events):
            if time_s > self.env.now:
                yield self.env.timeout(time_s - self.env.now)
            self.arrived[partition] += 1
            self.arrived_bytes[partition] += size_bytes
            owner = self._owner(event)
            owner.arrival(time_s)
            if self._standing:
                self._waiting.append(event)
            else:
                owner.queue.put((time_s, event))

    def _owner(self, event: int) -> "_Consumer":
        owner = self.assignment.owner[self._events.partition[event]]
        return self._consumers[self.assignment.consumers[owner]]

    def _control(self, loop: Loop, ticks: int, interval_s: float) -> Process:
        for k in range(ticks):
            if k * interval_s > self.env.now:
                yield self.env.timeout(k * interval_s - self.env.now)
            loop.tick()

    def _rebalance(self, target: Assignment) -> Process:
        in_work = [consumer.batch for consumer in self._consumers.values() if consumer.batch is not None]
        self._standing = True
        for consumer in self._consumers.values():
            self._waiting += [event for _, event in consumer.queue.items]
            consumer.queue.items.clear()
        self.assignment = target
        # One that comes back after it has left is a new one.
        self._consumers = {name: self._consumers.get(name) or _Consumer(self, name) for name in target.consumers}
        yield self.env.all_of(in_work)
        yield self.env.timeout(self._rebalance_s)
        self._standing = False
        waiting, self._waiting = sorted(self._waiting), []
        for event in waiting:
            self._owner(event).queue.put((self.env.now, event))


class _Consumer:
    """Polls, serves, commits."""

    def __init__(self, group: SimpyGroup, name: str) -> None:
        self._group = group
        self.name = name
        self.processed = 0
        self.busy_s = self.busy_s2 = self.latency_s = 0.0
        self._last_arrival_s: float | None = None
        self._gap_s = self._gap_s2 = 0.0
        self.queue = simpy.PriorityStore(group.env)
        self.batch: simpy.Event | None = None
        group.env.process(self._live())

    def arrival(self, time_s: float) -> None:
        if self._last_arrival_s is not None:
            gap_s = time_s - self._last_arrival_s
            self._gap_s += gap_s
            self._gap_s2 += gap_s * gap_s
        self._last_arrival_s = time_s

    def counters(self) -> tuple[float, ...]:
        """What it reports of itself; it writes to no topic."""
        return (self.processed, 0, self.busy_s, self.busy_s2, self.latency_s, self._gap_s, self._gap_s2)

    def _live(self) -> Process:
        env = self._group.env
        while True:
            batch = [(yield self.queue.get())]
            # Everything that arrives at this very instant is part of the same poll.
            yield env.timeout(0)
            while self.queue.items and len(batch) < self._group.max_poll:
                batch.append((yield self.queue.get()))
            self.batch = env.process(self._group.serve(self, [event for _, event in batch]))
            yield self.batch
            self.batch = None
