"""The journal: one decision a line, append-only. A line torn by a crash is dropped on reading."""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from sluice.errors import InputError
from sluice.model import Decision
from sluice.model.codec import decision_from_json, decision_to_json


class Discard:
    """Keeps nothing."""

    def append(self, decision: Decision) -> None:
        """Nothing is written."""


class Journal:
    """Appends decisions to a file; each is handed to the operating system before `append` returns. A file belongs to
    one writer at a time: decisions of two controllers in one file would be no history."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab+")
        except OSError as error:
            raise InputError(f"journal {path} cannot be written: {error.strerror}; choose another place") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InputError(f"journal {path} is being written by another run; choose another place") from None
        except OSError:
            pass  # a file system without locks
        self._cut_torn_tail()

    def append(self, decision: Decision) -> None:
        line = json.dumps(decision_to_json(decision), separators=(",", ":"), allow_nan=False)
        self._file.write(line.encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _cut_torn_tail(self) -> None:
        # Appending behind half a line would spoil the next one too.
        end = size = self._file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 65536)
            self._file.seek(start)
            newline = self._file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            self._file.truncate(end)
        self._file.seek(0, os.SEEK_END)


def read_journal(path: Path) -> Iterator[Decision]:
    """Every whole decision of the file, oldest first."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return  # torn by a crash while it was written
                yield _parse(path, number, line)
    except OSError as error:
        raise InputError(f"journal {path} cannot be read: {error.strerror}") from error


def _parse(path: Path, number: int, line: bytes) -> Decision:
    where = f"journal {path}, line {number}"
    try:
        data = json.loads(line)
    except ValueError as error:
        raise InputError(f"{where} is not JSON ({error}); restore the file or cut it there") from None
    if not isinstance(data, dict):
        raise InputError(f"{where} is no decision; restore the file or cut it there")
    try:
        return decision_from_json(data)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
