"""The development broker that outlives the command that started it: a note on disk finds it again."""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from sluice.broker.cache import cache_folder
from sluice.broker.server import STOP_LIMIT_S, Broker
from sluice.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What `up` leaves behind for `status` and `down`."""

    pid: int
    bootstrap: str
    data: str
    remove_data: bool


def running() -> Record | None:
    """The broker that `up` started, if it still runs."""
    with suppress(OSError, ValueError, TypeError):
        record = Record(**json.loads(_note().read_text()))
        if _is_broker_of(record.pid, Path(record.data)):
            return record
    return None


def up(*, data: Path | None = None, port: int | None = None, keep: bool = False) -> tuple[Record, bool]:
    """Start it, or find it started already; the second value says whether it was started now."""
    record = running()
    if record is not None:
        wants_other = (port is not None and not record.bootstrap.endswith(f":{port}")) or (
            data is not None and str(data.absolute()) != record.data
        )
        if wants_other:
            raise InputError(f"a broker already runs at {record.bootstrap}; run 'sluice broker down' first")
        return record, False
    folder = (data or cache_folder() / "broker").absolute()
    broker = Broker(data=folder, port=port, outlive=True)
    broker.start()
    # A folder the user named is the user's: it is never removed.
    record = Record(pid=broker.pid, bootstrap=broker.bootstrap, data=str(folder), remove_data=data is None and not keep)
    _note().parent.mkdir(parents=True, exist_ok=True)
    _note().write_text(json.dumps(asdict(record)))
    return record, True


def down() -> Record | None:
    """Stop it; None when none runs."""
    record = running()
    if record is not None:
        _end(record)
        if record.remove_data:
            shutil.rmtree(record.data, ignore_errors=True)
    _note().unlink(missing_ok=True)
    return record


def _note() -> Path:
    return cache_folder() / "broker.json"


def _end(record: Record) -> None:
    deadline = time.monotonic() + STOP_LIMIT_S
    os.kill(record.pid, signal.SIGTERM)
    while _is_broker_of(record.pid, Path(record.data)):
        if time.monotonic() > deadline:
            os.kill(record.pid, signal.SIGKILL)
        time.sleep(0.05)


def _is_broker_of(pid: int, data: Path) -> bool:
    """The process with this number is the broker of that folder, and not a later process with the same number."""
    mark = str(data / "server.properties")
    process = Path(f"/proc/{pid}")
    if process.parent.is_dir():
        # A zombie's command line is empty: ended, though its parent has not looked yet.
        with suppress(OSError):
            return mark.encode() in (process / "cmdline").read_bytes()
        return False
    shown = subprocess.run(["ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False)
    return mark in shown.stdout
