"""Consumers as processes of this machine. They outlive the controller; the next one finds them by notes on disk."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which

from sluice.errors import InputError, UnavailableError

LAST_WORDS_BYTES = 2000


class Processes:
    """Starts and stops one group's consumers; `folder` holds a note and the output of each.

    A name belongs to one process at a time. `stop` and `kill` are safe for a process that has ended: a note names its
    start as well as its number, so that a later process with the same number is left alone.
    """

    def __init__(self, command: Sequence[str], *, environment: Mapping[str, str], folder: Path) -> None:
        if not command:
            raise InputError("the group has no command; set group.command, for example ['python', 'consumer.py']")
        # "python" is the one that runs us: another one on the path may not have what consumers need.
        program = sys.executable if command[0] == "python" else command[0]
        if which(program) is None:
            raise InputError(f"command {program!r} is not there or cannot be run; give a program on the path")
        self._command = [program, *command[1:]]
        self._environment = dict(environment)
        self._folder = folder
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"folder {folder} cannot be used: {error.strerror}; set SLUICE_CACHE") from error

    @property
    def folder(self) -> Path:
        return self._folder

    def running(self) -> frozenset[str]:
        """Names of the consumers that have been started, by whomever, and have not ended."""
        return frozenset(path.stem for path in self._folder.glob("*.json") if self.pid(path.stem) is not None)

    def pid(self, consumer: str) -> int | None:
        """The consumer's process, if it still runs."""
        note = self._note(consumer)
        try:
            data = json.loads(note.read_text())
            pid, began = int(data["pid"]), str(data["began"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if child := self._children.get(pid):
            child.poll()  # one that has ended is not kept waiting
        if _began(pid) == began:
            return pid
        self._children.pop(pid, None)
        note.unlink(missing_ok=True)
        return None

    def start(self, consumer: str, **environment: str) -> None:
        """Start it unless it runs; UnavailableError when the system refuses."""
        if self.pid(consumer) is not None:
            return
        whole = {**os.environ, **self._environment, "SLUICE_CONSUMER": consumer, **environment}
        try:
            with (self._folder / f"{consumer}.log").open("ab") as log:
                # A session of its own: a signal to the controller's terminal is not one to the consumers.
                child = subprocess.Popen(
                    self._command,
                    env=whole,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except OSError as error:
            raise UnavailableError(f"consumer {consumer} cannot be started: {error.strerror}") from error
        self._children[child.pid] = child
        fresh = self._note(consumer).with_suffix(".new")
        fresh.write_text(json.dumps({"pid": child.pid, "began": _began(child.pid)}))
        fresh.replace(self._note(consumer))

    def stop(self, consumer: str) -> None:
        """Tell it to leave; does not wait."""
        self._signal(consumer, signal.SIGTERM)

    def kill(self, consumer: str) -> None:
        """End it at once."""
        self._signal(consumer, signal.SIGKILL)

    def last_words(self, consumer: str) -> str | None:
        """The last line of its output: why it ended. None when it wrote nothing."""
        with suppress(OSError), (self._folder / f"{consumer}.log").open("rb") as log:
            log.seek(max(log.seek(0, os.SEEK_END) - LAST_WORDS_BYTES, 0))
            lines = log.read().decode(errors="replace").split("\n")
            return next((line.strip() for line in reversed(lines) if line.strip()), None)
        return None

    def _signal(self, consumer: str, number: signal.Signals) -> None:
        pid = self.pid(consumer)
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _note(self, consumer: str) -> Path:
        if not consumer or "/" in consumer or consumer.startswith("."):
            raise InputError(f"consumer name {consumer!r} cannot name a file; use letters, digits and dashes")
        return self._folder / f"{consumer}.json"


def _began(pid: int) -> str | None:
    """Since when the process runs, as the system tells it; None when it has ended."""
    if Path("/proc/self/stat").exists():
        try:
            # The name in brackets may hold anything; the fields after it are plain. The 20th of them is the start.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields[19]
    shown = subprocess.run(["ps", "-p", str(pid), "-o", "stat=,lstart="], capture_output=True, text=True, check=False)
    state, _, began = shown.stdout.strip().partition(" ")
    return None if not began or state.startswith("Z") else began.strip()
