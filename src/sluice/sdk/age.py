"""How long this process has been running."""

import os
import time
from pathlib import Path

_imported_s = time.monotonic()


def process_age_s() -> float:
    """Since the operating system started it; where that is not told, since this module was imported."""
    try:
        # The 22nd field, counted behind the command's name, which may hold blanks: start in ticks since boot.
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return time.monotonic() - _imported_s
