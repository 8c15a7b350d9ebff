"""Peak memory of this process and of all processes it started, each page counted once (proportional set size)."""

import os
import threading
from pathlib import Path
from types import TracebackType

_EVERY_S = 0.25


class TreeMemory:
    """Looks on while the block runs."""

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "TreeMemory":
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._ended.wait(_EVERY_S):
            self.peak_mb = max(self.peak_mb, sum(_pss_mb(pid) for pid in _tree(os.getpid())))


def _tree(root: int) -> list[int]:
    """The process and what descends from it."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, open_ones = [], [root]
    while open_ones:
        pid = open_ones.pop()
        found.append(pid)
        open_ones += parents.get(pid, [])
    return found


def _pss_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)
