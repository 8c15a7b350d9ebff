"""How long a partition stood still when it changed hands: from its old owner's letting go to the first event here.

The old owner writes the time into the commit it makes when it lets go; the new one reads it back with the offset. The
two clocks are different machines' clocks: a pause below zero is not reported.
"""

from collections.abc import Iterable

from sluice.model import Partition
from sluice.sdk.event import Event


def mark(now_s: float) -> str:
    """What a commit carries."""
    return f"sluice {now_s:.3f}"


class Takeovers:
    """Pure; times are wall clock, told by the caller."""

    def __init__(self) -> None:
        self._since_s: dict[Partition, float] = {}
        self._released_s: dict[Partition, float] = {}

    def begin(self, partitions: Iterable[Partition], now_s: float) -> None:
        """These partitions have come."""
        self._since_s.update(dict.fromkeys(partitions, now_s))

    def end(self, partitions: Iterable[Partition]) -> None:
        """These have gone again."""
        for partition in partitions:
            self._since_s.pop(partition, None)
            self._released_s.pop(partition, None)

    @property
    def unread(self) -> set[Partition]:
        """Those whose commit has not been looked at."""
        return self._since_s.keys() - self._released_s.keys()

    def read(self, partition: Partition, text: str | None) -> None:
        """The text of the partition's commit; one that is not ours tells nothing, and there is no pause to know."""
        word, _, number = (text or "").partition(" ")
        try:
            released_s = float(number) if word == "sluice" else None
        except ValueError:
            released_s = None
        if released_s is None:
            self._since_s.pop(partition, None)
        else:
            self._released_s[partition] = released_s

    def pause_s(self, events: Iterable[Event], now_s: float) -> float | None:
        """The longest pause that ends with these events; None when none does."""
        longest: float | None = None
        for event in events:
            if (released_s := self._released_s.pop(event.partition, None)) is None:
                continue
            since_s = self._since_s.pop(event.partition)
            # An event that came later than the partition did says nothing. One that waited has stood still since the
            # release at the most: an owner that had nothing to read may have left no mark, and an old one is found.
            begun_s = max(released_s, event.timestamp_s)
            if event.timestamp_s <= since_s and now_s >= begun_s:
                longest = max(longest or 0.0, now_s - begun_s)
        return longest
