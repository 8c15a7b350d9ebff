"""Where Java and PySpark's own jars are."""

import importlib.util
import os
import shutil
from pathlib import Path

from sluice.errors import UnavailableError


def java_command() -> str:
    """The Java to run: JAVA_HOME's before the one on the path."""
    home = os.environ.get("JAVA_HOME")
    if home and os.access(Path(home, "bin", "java"), os.X_OK):
        return str(Path(home, "bin", "java"))
    found = shutil.which("java")
    if found is None:
        raise UnavailableError("Java 17 or newer is missing; install it or set JAVA_HOME to its folder")
    return found


def pyspark_jars(*patterns: str) -> list[Path]:
    """One jar of PySpark for each pattern."""
    # Looked up, not imported: importing PySpark costs a second, and only its folder is needed.
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise UnavailableError(
            "PySpark, whose Ivy fetches the jars, is missing; install sluice[spark] or set KAFKA_HOME"
        )
    folder = Path(spec.submodule_search_locations[0], "jars")
    found = []
    for pattern in patterns:
        match = sorted(folder.glob(pattern))
        if not match:
            raise UnavailableError(f"PySpark has no {pattern} among its jars; reinstall sluice[spark]")
        found.append(match[-1])
    return found
