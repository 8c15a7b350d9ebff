"""What happens to an event whose handler raises."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sluice.errors import InputError, SluiceError, did_you_mean
from sluice.sdk.event import Event


class Policy(StrEnum):
    """After `attempts` failed tries of one event:"""

    RETRY = "retry"
    """Go on trying, with growing waits: nothing is skipped, and what stands behind the event waits."""
    DEAD_LETTER = "dead-letter"
    """Write it to the dead-letter topic, and go on behind it."""
    STOP = "stop"
    """Stop the consumer; the event stays uncommitted and is the first one the next owner sees."""


class HandlerFailedError(SluiceError):
    """The handler raised and the policy is to stop; `__cause__` is what it raised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnError:
    """How often an event is tried, how long between two tries, and what then."""

    policy: str = Policy.RETRY
    attempts: int = 3
    """Tries of one event before it goes to the dead-letter topic or stops the consumer; RETRY has no limit."""
    backoff_s: float = 0.1
    """Wait before the second try; it doubles with every further one."""
    backoff_max_s: float = 5.0
    dead_letter_topic: str = "{topic}.dead-letter"
    """`{topic}` stands for the event's own topic."""

    def __post_init__(self) -> None:
        if self.policy not in tuple(Policy):
            raise InputError(
                f"on_error.policy is {self.policy!r}; {did_you_mean(self.policy, [policy.value for policy in Policy])}"
            )
        if self.attempts < 1:
            raise InputError(f"on_error.attempts is {self.attempts}; give 1 or more")
        if not 0 <= self.backoff_s <= self.backoff_max_s:
            raise InputError(f"on_error.backoff_s is {self.backoff_s}; give 0 to backoff_max_s ({self.backoff_max_s})")

    def wait_s(self, tries: int) -> float:
        """How long to wait after the `tries`-th failure."""
        # The exponent is capped: 2.0 ** 2000 is an error, and long before that the wait is at its maximum.
        return min(self.backoff_s * 2.0 ** min(tries - 1, 60), self.backoff_max_s)

    def exhausted(self, tries: int) -> bool:
        """Whether the event is not to be tried again."""
        return self.policy != Policy.RETRY and tries >= self.attempts

    def topic_for(self, event: Event) -> str:
        return self.dead_letter_topic.format(topic=event.partition.topic)


DeadLetter = Callable[[Event, BaseException, int], None]
"""(event, what its handler raised, tries): returns once the broker has the event, else raises UnavailableError."""


def dead_letter_headers(event: Event, error: BaseException, tries: int) -> list[tuple[str, str | bytes | None]]:
    """The event's own headers, then where it came from and why it is here."""
    return [
        *event.headers,
        ("sluice.topic", event.partition.topic.encode()),
        ("sluice.partition", str(event.partition.number).encode()),
        ("sluice.offset", str(event.offset).encode()),
        ("sluice.error", f"{type(error).__name__}: {error}".encode()[:1000]),
        ("sluice.attempts", str(tries).encode()),
    ]
