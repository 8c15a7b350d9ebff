"""Managed consumers as processes of this machine: one process an instance, told to leave first and killed later."""

import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sluice.execute.processes import Processes

# A consumer that was told to leave and is still there after this time is killed.
KILL_AFTER_S = 10.0
# Each process has an output of its own; a consumer that ends again and again must not fill the disk with them.
KEPT_LOGS = 5


class LocalConsumers:
    """A consumer that was given up may still be there, stopped or hanging, while its successor of the same name runs:
    each process has a note of its own, `NAME.INSTANCE`.

    Instances begin with a mark of the folder. A process that bears it and has no note has certainly ended, whichever
    controller started it; of others nothing is known.
    """

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._mark = _mark_of(processes.folder)
        self._kill_at_s: dict[str, float] = {}

    def new_instance(self) -> str:
        return f"{self._mark}-{uuid.uuid4().hex[:8]}"

    def start(self, consumer: str, instance: str) -> None:
        """UnavailableError when the system refuses."""
        self._forget_old_logs(consumer)
        note = _note(consumer, instance)
        self._processes.start(note, SLUICE_CONSUMER=consumer, SLUICE_INSTANCE=instance, PYTHONUNBUFFERED="1")

    def stop(self, consumer: str, instance: str) -> None:
        """Tell it to leave; does not wait."""
        note = _note(consumer, instance)
        self._processes.stop(note)
        self._kill_at_s.setdefault(note, time.monotonic() + KILL_AFTER_S)

    def ended(self, instances: Iterable[str]) -> frozenset[str]:
        """Those of the instances that have certainly ended. What was told to leave too long ago is killed."""
        running = self._processes.running()
        for note, due_s in list(self._kill_at_s.items()):
            if note not in running:
                del self._kill_at_s[note]
            elif time.monotonic() > due_s:
                self._processes.kill(note)
        alive = {note.rpartition(".")[2] for note in running}
        return frozenset(i for i in instances if i.startswith(f"{self._mark}-") and i not in alive)

    def last_words(self, instance: str) -> str | None:
        """The last line the process wrote."""
        logs = self._processes.folder.glob(f"*.{instance}.log")
        return next((self._processes.last_words(log.stem) for log in logs), None)

    def _forget_old_logs(self, consumer: str) -> None:
        with suppress(OSError):  # another controller may do the same
            logs = sorted(self._processes.folder.glob(f"{consumer}.*.log"), key=lambda log: log.stat().st_mtime)
            for old in logs[:-KEPT_LOGS]:
                old.unlink()


def _note(consumer: str, instance: str) -> str:
    return f"{consumer}.{instance}"


def _mark_of(folder: Path) -> str:
    """Made once for a folder; of two controllers that make it at the same time the first counts."""
    path = folder / "mark"
    try:
        with path.open("x") as file:
            file.write(uuid.uuid4().hex[:8])
    except FileExistsError:
        while not (mark := path.read_text()):
            time.sleep(0.01)
        return mark
    return path.read_text()
