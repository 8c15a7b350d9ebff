"""Measurements from a file that grows: one JSON object a line."""

from pathlib import Path

from sluice.errors import InputError
from sluice.monitor.measured.measurement import Measurement


class MeasurementFile:
    """Reads on where it has ended; a line that is still being written waits for the next look."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise InputError(f"measurements {path} is no file; name a file of JSON lines, or a topic")
        self._path = path
        self._read_bytes = 0
        self._newest: Measurement | None = None

    def newest(self) -> Measurement | None:
        try:
            with self._path.open("rb") as file:
                file.seek(self._read_bytes)
                fresh = file.read()
        except OSError:
            return self._newest
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            try:
                self._newest = Measurement.from_json(line)
            except InputError:
                continue  # what cannot be read says nothing, and what was known grows old
        return self._newest

    def close(self) -> None:
        """Nothing is kept open."""
