"""A consumer process for the live tests: writes down everything it does, with the time all processes share.

Lines of its file (RECORD_FOLDER/NAME.INSTANCE.jsonl): what the SDK says of partitions and lease, and every event.
"""

import json
import logging
import os
import time
from pathlib import Path

from tests.live.processes_end import end_with_test

from sluice.sdk import Event, OnError, run

_folder = Path(os.environ["RECORD_FOLDER"])
_out = (_folder / f"{os.environ['SLUICE_CONSUMER']}.{os.environ['SLUICE_INSTANCE']}.jsonl").open("a", buffering=1)
_work_s = float(os.environ.get("WORK_S", "0"))


def write(*fields: object) -> None:
    # One write call a line: a process that is killed leaves whole lines.
    _out.write(json.dumps([time.clock_gettime(time.CLOCK_BOOTTIME), *fields]) + "\n")


class Recorder(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        write("log", record.getMessage())


def handle(event: Event) -> None:
    write("event", str(event.partition), event.offset, (event.value or b"").decode())
    if _work_s:
        time.sleep(_work_s)
    if (event.value or b"").startswith(b"poison"):
        raise ValueError("poison")


if __name__ == "__main__":
    end_with_test()
    logging.getLogger("sluice.managed").setLevel(logging.INFO)
    logging.getLogger("sluice.managed").addHandler(Recorder())
    run(handle, on_error=OnError(policy=os.environ.get("ON_ERROR", "retry"), attempts=2, backoff_s=0.01))
