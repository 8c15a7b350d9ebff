"""The windows of a log, the slow and obvious way: one partition after the other, one event after the other."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

Event = tuple[float | None, bytes | None, int]
"""Time, key, bytes."""


@dataclass
class Oracle:
    delay_s: int
    window_s: int
    slide_s: int
    latest_s: float
    seconds: dict[tuple[int, int], list[Event]] = field(default_factory=dict)
    """(partition, second) → its events, of seconds that are over."""
    windows: dict[tuple[int, int], dict[str, float]] = field(default_factory=dict)
    """(partition, end) → its row, of windows that are over and had events."""
    hot: dict[tuple[int, int], Counter[bytes]] = field(default_factory=dict)
    bad: list[tuple[int, int, str]] = field(default_factory=list)
    """(partition, offset, problem)."""

    def read(self, partition: int, log: Sequence[Event]) -> None:
        newest: float | None = None
        good: list[tuple[Event, float | None]] = []
        for offset, event in enumerate(log):
            time_s = event[0]
            if time_s is None:
                self.bad.append((partition, offset, "record has no time"))
            elif time_s > self.latest_s:
                self.bad.append((partition, offset, "ahead of the clock"))
            elif newest is not None and time_s < newest - self.delay_s:
                self.bad.append((partition, offset, "late"))
            else:
                good.append((event, None if newest is None else max(time_s - newest, 0.0)))
                newest = time_s if newest is None else max(newest, time_s)
        if newest is None:
            return
        over = newest - self.delay_s
        for event, _ in good:
            second = math.floor(event[0] or 0.0)
            if second + 1 <= over:
                self.seconds.setdefault((partition, second), []).append(event)
        first = math.floor(min(event[0] or 0.0 for event, _ in good))
        end = (first // self.slide_s) * self.slide_s
        while end <= over:
            self._window(partition, end, good)
            end += self.slide_s

    def _window(self, partition: int, end: int, good: Sequence[tuple[Event, float | None]]) -> None:
        inside = [(e, gap) for e, gap in good if end - self.window_s <= (e[0] or 0.0) < end]
        if not inside:
            return
        gaps = [gap for _, gap in inside if gap is not None]
        mean = sum(gaps) / len(gaps) if gaps else 0.0
        variance = sum((gap - mean) ** 2 for gap in gaps) / len(gaps) if gaps else 0.0
        busiest = Counter(math.floor(e[0] or 0.0) for e, _ in inside).most_common(1)[0][1]
        self.windows[partition, end] = {
            "arrival_eps": len(inside) / self.window_s,
            "arrival_bps": sum(e[2] for e, _ in inside) / self.window_s,
            "peak_ratio": busiest / (len(inside) / self.window_s),
            "arrival_cv": math.sqrt(variance) / mean if len(gaps) > 1 and mean > 0 else math.nan,
        }
        if end % self.window_s == 0:
            keys = Counter(e[1] for e, _ in inside if e[1] is not None)
            if keys:
                self.hot[partition, end] = keys
