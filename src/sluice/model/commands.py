"""What a controller and the consumers it commands say to each other, and how it is written on the wire (JSON).

One control topic a group, two partitions. COMMANDS is a single ordered log that everybody reads whole, so everybody
agrees on what came first. REPORTS carries the consumers' answers.

*Leadership.* A controller leads from the place where its `Lead` with a higher term stands; whatever an earlier one
writes behind that place is void.

*Lease.* A consumer writes beats into COMMANDS and reads them back. A beat that comes back, and has no `Evict` of this
process before it, lets the consumer work for `lease_s` counted from the SENDING of the beat. So once an `Evict` stands
in the log, the process has stopped at the latest `lease_s` afterwards, whether it can be reached or not, and nobody
needs another's clock. While no controller is there the consumers go on by themselves.

The topic is compacted: of each key the last record stays, so the last `Start` of every partition and the last `Lead`
can always be read back.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sluice.errors import InputError
from sluice.model.assignment import Partition
from sluice.model.codec import decode, encode

COMMANDS = 0
REPORTS = 1
CONTROL_PARTITIONS = 2

_T = TypeVar("_T")


def control_topic(group: str) -> str:
    """Where a group's commands and reports travel."""
    return f"__sluice.{group}.control"


def transactional_id(group: str, instance: str) -> str:
    """A consumer commits in transactions under this name, so that a controller can make the broker refuse them."""
    return f"__sluice.{group}.{instance}"


def beat_key(instance: str) -> str:
    """The key of a process's beats: a reader need not open those of others."""
    return f"Beat {instance}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """Sign of life of a consumer, or of a controller."""

    instance: str
    number: int
    """Counts this process's beats."""

    @property
    def key(self) -> str:
        return beat_key(self.instance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Every command says who gives it."""

    term: int
    """Grows with every change of the leading controller."""
    leader: str

    @property
    def key(self) -> str:
        """Records of one key replace each other when the topic is compacted."""
        return type(self).__name__


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead(Command):
    """From here on this controller leads, if its term is higher than any before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Command):
    consumer: str
    instance: str
    partition: Partition
    epoch: int
    """Higher than any earlier epoch of this partition."""
    offset: int | None
    """Where to begin; None: at the committed offset."""
    lease_s: float
    """The consumer's own; a later leader that never hears of it must know how long to wait."""
    stood_s: float | None = None
    """How long the partition had stood still when this was written; None when its last owner did not say."""

    @property
    def key(self) -> str:
        return f"Start {self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Command):
    """Finish the event in hand, commit, let go of the partition and report its release."""

    consumer: str
    instance: str
    partition: Partition
    epoch: int

    @property
    def key(self) -> str:
        return f"Stop {self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _AboutProcess(Command):
    consumer: str
    instance: str

    @property
    def key(self) -> str:
        return f"{type(self).__name__} {self.instance}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evict(_AboutProcess):
    """This process is to stop and end. It has stopped one lease after this stands in the log, even if it is cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dismiss(_AboutProcess):
    """This process is not needed any more: it is to leave in order. A signal reaches processes of one machine only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed(_AboutProcess):
    """Nothing of this process can come any more: its lease is over and the broker refuses its commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A partition the consumer has been given and has not let go of yet."""

    partition: Partition
    epoch: int
    reading: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A partition it has let go of: everything before `offset` is processed and committed."""

    partition: Partition
    epoch: int
    offset: int | None
    """None: it never got to know where it was to begin."""
    stood_s: float
    """How long the partition had stood still when this was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A consumer's whole state, sent on every change and with every beat: a lost one costs nothing."""

    consumer: str
    instance: str
    number: int
    """Counts this process's reports."""
    applied: int
    """Offset of the last command it has read; -1 before the first."""
    ready: bool
    """Connected and able to read at once."""
    lease_s: float
    """How long after a beat it goes on without news."""
    leaving: bool = False
    why: str | None = None
    """What makes it leave, when nobody told it to."""
    holds: tuple[Hold, ...] = ()
    releases: tuple[Release, ...] = ()
    """The last release of each partition it let go of lately."""


@dataclass(frozen=True, slots=True)
class Reign:
    """Who leads at one place of the log of commands."""

    term: int = 0
    leader: str = ""

    def accepts(self, command: Command) -> bool:
        """Of two controllers that claim one term the first in the log leads."""
        return command.term > self.term or (command.term == self.term and command.leader == self.leader)

    def after(self, command: Command) -> "Reign":
        return Reign(command.term, command.leader) if command.term > self.term else self


Record = Command | Beat
"""What stands in COMMANDS."""
KINDS: Mapping[str, type[Record]] = {kind.__name__: kind for kind in (Beat, Lead, Start, Stop, Evict, Dismiss, Closed)}


def record_to_wire(record: Record) -> bytes:
    return _packed({"kind": type(record).__name__, **encode(record)})


def record_from_wire(message: bytes) -> Record:
    """InputError when it is none of ours, or of a kind this program does not know."""
    data = _unpacked(message)
    kind = KINDS.get(str(data.get("kind")))
    if kind is None:
        raise InputError(f"control message of unknown kind {data.get('kind')!r}; update the older side")
    return _decoded(kind, data)


def report_to_wire(report: Report) -> bytes:
    return _packed(encode(report))


def report_from_wire(message: bytes) -> Report:
    return _decoded(Report, _unpacked(message))


def _packed(data: dict[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode()


def _unpacked(message: bytes) -> dict[str, Any]:
    try:
        data = json.loads(message)
    except ValueError as error:
        raise InputError(f"not a control message: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"not a control message: {type(data).__name__} instead of an object")
    return data


def _decoded(kind: type[_T], data: dict[str, Any]) -> _T:
    try:
        return decode(kind, data, ())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"not a {kind.__name__}: {type(error).__name__}: {error}") from error
