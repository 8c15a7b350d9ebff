"""Nothing outlives the test that started it, however the test ends."""

import os
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def module_command(module: str) -> list[str]:
    return [sys.executable, "-m", module]


def module_environment() -> dict[str, str]:
    """What a process started by `module_command` needs: where the modules are, and whom to end with."""
    places = [str(ROOT / "src"), str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {"PYTHONPATH": os.pathsep.join(p for p in places if p), "WATCH_PID": str(os.getpid())}


def end_with_test() -> None:
    """Called by such a process: it ends soon after the test that is named in its environment."""
    threading.Thread(target=_watch, args=(int(os.environ["WATCH_PID"]),), daemon=True).start()


def _watch(pid: int) -> None:
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.5)
    os._exit(1)
