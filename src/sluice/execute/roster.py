"""Which consumer processes there are: starting, ready, silent, or lost and not yet certainly stopped."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sluice.execute.retries import Retries
from sluice.execute.timing import Timing
from sluice.model.commands import Report


@dataclass(slots=True)
class Member:
    """A consumer process the controller knows of."""

    consumer: str
    instance: str
    heard_s: float
    """When it last gave a sign of life."""
    lease_s: float = 0.0
    ready: bool = False
    retiring: bool = False
    spawned_s: float | None = None
    """When it was started; None when somebody else did that, or it was ready before."""
    lost: bool = False
    free_s: float = math.inf
    """Lost: when its lease is certainly over; infinite until the eviction stands in the log."""
    fenced: bool = False


@dataclass(slots=True)
class _Starting:
    instance: str
    since_s: float


class Roster:
    """Members by process; a name may belong to one that is lost and to one that replaces it."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._members: dict[str, Member] = {}
        self._closed: set[str] = set()
        self._rivals: dict[str, float] = {}
        self._turned_away_s: dict[str, float] = {}
        self._starting: dict[str, _Starting] = {}
        self._failed_starts = Retries(timing)
        self.left = Retries(timing)
        """Of consumers that gave up by themselves after they had been ready: being ready again proves nothing."""
        self._echo_s = -math.inf
        self._connected_since_s = -math.inf

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self._members.values()))

    def get(self, instance: str) -> Member | None:
        return self._members.get(instance)

    def is_closed(self, instance: str) -> bool:
        return instance in self._closed

    def instances(self) -> list[str]:
        return [*self._members, *(starting.instance for starting in self._starting.values())]

    def present(self) -> list[str]:
        """Names of consumers that are there or on their way."""
        return list(dict.fromkeys([m.consumer for m in self if not m.lost] + list(self._starting)))

    def ready(self, consumer: str) -> Member | None:
        """The process that can be given partitions under this name."""
        return next((m for m in self if m.consumer == consumer and m.ready and not (m.lost or m.retiring)), None)

    def adopt(self, consumer: str, instance: str, lease_s: float, now_s: float) -> None:
        """Whoever was given something by an earlier leader is a member until it proves otherwise, or is silent."""
        member = self._members.setdefault(instance, Member(consumer, instance, heard_s=now_s))
        member.lease_s = max(member.lease_s, lease_s)

    def admit(self, report: Report, now_s: float) -> Member | None:
        """A process that reports for the first time; None while its name is another's."""
        if any(m.consumer == report.consumer and not m.lost for m in self):
            self._rivals.setdefault(report.instance, now_s)
            return None
        self._rivals.pop(report.instance, None)
        member = Member(report.consumer, report.instance, heard_s=now_s)
        starting = self._starting.get(report.consumer)
        if starting is not None and starting.instance == report.instance:
            member.spawned_s = starting.since_s
            del self._starting[report.consumer]
        self._members[report.instance] = member
        return member

    def is_surplus(self, instance: str, now_s: float) -> bool:
        """It has waited for its name so long that the other process of that name is certainly well."""
        return now_s - self._rivals.get(instance, now_s) > 2 * self._timing.silence_s

    def turn_away(self, instance: str, now_s: float) -> bool:
        """Whether to tell it (again): its reports may come in a flood, and once in a while is enough."""
        if now_s - self._turned_away_s.get(instance, -math.inf) < self._timing.silence_s:
            return False
        self._turned_away_s[instance] = now_s
        return True

    def close(self, instance: str) -> None:
        self._members.pop(instance, None)
        self._closed.add(instance)

    def beat(self, instance: str, now_s: float) -> None:
        if (member := self._members.get(instance)) is not None:
            member.heard_s = now_s

    def echo(self, now_s: float) -> None:
        """The controller heard itself: what it does not hear of others is their silence, not its own deafness."""
        if now_s - self._echo_s > self._timing.silence_s / 2:
            self._connected_since_s = now_s
        self._echo_s = now_s

    def silent(self, now_s: float) -> list[Member]:
        if now_s - self._echo_s > self._timing.silence_s / 2:
            return []
        limit_s = now_s - self._timing.silence_s
        return [m for m in self if not m.lost and max(m.heard_s, self._connected_since_s) < limit_s]

    def may_spawn(self, consumer: str, now_s: float) -> bool:
        waited = all(retries.may_start(consumer, now_s) for retries in (self._failed_starts, self.left))
        return consumer not in self._starting and waited

    def spawned(self, consumer: str, instance: str, now_s: float) -> None:
        self._starting[consumer] = _Starting(instance, now_s)

    def became_ready(self, member: Member, now_s: float) -> float | None:
        """How long its start took; None when that is not known."""
        member.ready = True
        self._failed_starts.forgive(member.consumer)
        spawned_s, member.spawned_s = member.spawned_s, None
        return None if spawned_s is None else now_s - spawned_s

    def ended(self, instance: str, now_s: float) -> str | None:
        """A process is gone; the name it was to have, when it was still starting. It is tried again after a wait."""
        for consumer, starting in list(self._starting.items()):
            if starting.instance == instance:
                del self._starting[consumer]
                self._failed_starts.failed(consumer, now_s)
                return consumer
        member = self._members.get(instance)
        if member is not None and not member.ready:
            self._failed_starts.failed(member.consumer, now_s)
        return None

    def give_up(self, consumer: str) -> str | None:
        """No longer wait for a consumer that is starting; its process, when there is one."""
        starting = self._starting.pop(consumer, None)
        return None if starting is None else starting.instance
