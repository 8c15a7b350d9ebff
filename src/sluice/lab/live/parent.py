"""A process of a live run ends with the one that started it, however that one ends."""

import os
import threading
import time

PARENT_VARIABLE = "REPLAY_PARENT"
LOOK_S = 0.5


def parent_environment() -> dict[str, str]:
    """For processes that are to end with this one."""
    return {PARENT_VARIABLE: str(os.getpid())}


def end_with_parent() -> None:
    """Called by such a process."""
    threading.Thread(target=_watch, args=(int(os.environ[PARENT_VARIABLE]),), daemon=True).start()


def _watch(pid: int) -> None:
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            os._exit(1)
        time.sleep(LOOK_S)
