"""Managed consumers as processes of this machine: one process an instance, told to leave first and killed later."""

import time

from sluice.execute.processes import Processes

# A consumer that was told to leave and is still there after this time is killed.
KILL_AFTER_S = 10.0


class LocalConsumers:
    """A consumer that was given up may still be there, stopped or hanging, while its successor of the same name runs:
    each process has a note of its own, `NAME.INSTANCE`."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._running = set(processes.running())
        self._kill_at_s: dict[str, float] = {}

    def start(self, consumer: str, instance: str) -> None:
        """UnavailableError when the system refuses."""
        note = _note(consumer, instance)
        self._processes.start(note, SLUICE_CONSUMER=consumer, SLUICE_INSTANCE=instance, PYTHONUNBUFFERED="1")
        self._running.add(note)

    def stop(self, consumer: str, instance: str) -> None:
        """Tell it to leave; does not wait."""
        note = _note(consumer, instance)
        self._processes.stop(note)
        self._kill_at_s.setdefault(note, time.monotonic() + KILL_AFTER_S)

    def tend(self) -> tuple[str, ...]:
        """Kill what was told to leave too long ago; the instances that have certainly ended, each told once."""
        for note, due_s in list(self._kill_at_s.items()):
            if time.monotonic() > due_s:
                self._processes.kill(note)
        now = set(self._processes.running())
        ended = self._running - now
        self._running = now
        for note in ended:
            self._kill_at_s.pop(note, None)
        return tuple(note.rpartition(".")[2] for note in sorted(ended))

    def last_words(self, consumer: str, instance: str) -> str:
        return self._processes.last_words(_note(consumer, instance))


def _note(consumer: str, instance: str) -> str:
    return f"{consumer}.{instance}"
