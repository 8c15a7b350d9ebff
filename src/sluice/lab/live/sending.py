"""The producer of a live run: a process that sends a load at its times."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sluice.errors import UnavailableError
from sluice.lab.live.load import Load
from sluice.lab.live.parent import parent_environment
from sluice.lab.live.producer import sent_file
from sluice.model.values import FloatArray

FLUSH_LIMIT_S = 60.0


class Sending:
    """Connected, and waiting for the word."""

    def __init__(self, process: "subprocess.Popen[bytes]", file: Path) -> None:
        self._process = process
        self._file = file

    def begin(self, start_s: float) -> None:
        """Send the first event at its time after `start_s` (since 1970)."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{start_s!r}\n".encode())
        self._process.stdin.flush()

    def sent_s(self) -> FloatArray:
        """When each event was really sent (since 1970); waits for the last one."""
        try:
            code = self._process.wait(FLUSH_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise UnavailableError("the producer does not come to its end; is the broker still there?") from None
        if code:
            raise UnavailableError("the producer failed; its last words are above")
        return np.asarray(np.load(sent_file(str(self._file))), dtype=np.float64)


@contextmanager
def sending(bootstrap: str, load: Load, topics: Sequence[str], folder: Path) -> Iterator[Sending]:
    """`topics`: what the load's topics are called on the broker. The process is ended at the end."""
    file = folder / "load.npz"
    np.savez(
        file,
        topics=np.array(topics),
        time_s=load.time_s,
        topic=load.topic,
        partition=load.partition,
        size_bytes=load.size_bytes,
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "sluice.lab.live.producer", bootstrap, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **parent_environment()},
        start_new_session=True,  # Ctrl-C in the terminal is for us, and we end it
    )
    try:
        assert process.stdout is not None
        if process.stdout.readline().strip() != b"ready":
            raise UnavailableError("the producer could not be started; its last words are above")
        yield Sending(process, file)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
