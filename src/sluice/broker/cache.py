"""Released jars by their coordinates, fetched once into a cache with the Ivy that PySpark ships."""

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from xml.sax.saxutils import quoteattr

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from sluice.broker.java import java_command, pyspark_jars
from sluice.errors import InputError, UnavailableError

FETCH_LIMIT_S = 600.0
ATTEMPTS = 5


class _UnreachedError(UnavailableError):
    """The registry did not answer, or asked us to wait: worth another try."""


def cache_folder() -> Path:
    """`SLUICE_CACHE`, else a folder of ours in the user's cache."""
    return Path(os.environ.get("SLUICE_CACHE") or "~/.cache/sluice").expanduser().absolute()


def resolve(
    coordinates: str | Sequence[str],
    into: str,
    *,
    transitive: bool = True,
    attempts: int = ATTEMPTS,
    wait_s: float = 2.0,
) -> tuple[Path, ...]:
    """The jars of `GROUP:NAME:VERSION` (one or several), kept in the cache's folder `into`.

    With `transitive` everything they depend on comes too. A folder that exists is complete: it appears under its name
    only when every jar is there. Raises UnavailableError when the registry is not reached or has no such version.
    """
    wanted = [coordinates] if isinstance(coordinates, str) else list(coordinates)
    modules = [_parse(text) for text in wanted]
    folder = cache_folder() / into
    if not folder.is_dir():
        with _alone(folder):
            # Whoever held the lock before us may have fetched it.
            if not folder.is_dir():
                _fetch(modules, folder, transitive=transitive, attempts=attempts, wait_s=wait_s)
    return tuple(sorted(folder.glob("*.jar")))


def _parse(text: str) -> tuple[str, str, str]:
    parts = text.split(":")
    if len(parts) != 3 or not all(parts):
        raise InputError(
            f"coordinates {text!r} are not GROUP:NAME:VERSION (example: org.apache.kafka:kafka_2.13:4.3.1)"
        )
    return parts[0], parts[1], parts[2]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time fetches into `folder`."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.with_name(f".{folder.name}.lock").open("w")
    except OSError as error:
        raise InputError(f"cache {folder.parent} cannot be written: {error.strerror}; set SLUICE_CACHE") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(
    modules: list[tuple[str, str, str]], folder: Path, *, transitive: bool, attempts: int, wait_s: float
) -> None:
    java, ivy = java_command(), pyspark_jars("ivy-2.*.jar")[0]
    work = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        request = work / "ivy.xml"
        request.write_text(_request(modules, transitive=transitive))
        jars = work / "jars"
        command = [java, "-jar", str(ivy), "-cache", str(cache_folder() / "ivy"), "-ivy", str(request)]
        # Some jars are published as OSGi bundles; without that type they would be left out in silence.
        command += ["-confs", "default", "-types", "jar", "bundle"]
        command += ["-retrieve", f"{jars}/[artifact]-[revision](-[classifier]).[ext]"]
        for attempt in Retrying(
            retry=retry_if_exception_type(_UnreachedError),
            stop=stop_after_attempt(attempts),
            wait=wait_exponential(multiplier=wait_s, max=30.0),
            reraise=True,
        ):
            with attempt:
                _run_ivy(command, ", ".join(":".join(module) for module in modules))
        jars.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _request(modules: list[tuple[str, str, str]], *, transitive: bool) -> str:
    scope = "default->default" if transitive else "default->master"
    lines = [
        f"<dependency org={quoteattr(group)} name={quoteattr(name)} rev={quoteattr(version)} conf={quoteattr(scope)}/>"
        for group, name, version in modules
    ]
    head = '<info organisation="sluice" module="fetch"/><configurations><conf name="default"/></configurations>'
    return f'<ivy-module version="2.0">{head}<dependencies>{"".join(lines)}</dependencies></ivy-module>'


def _run_ivy(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise _UnreachedError(f"fetching {what} took longer than {FETCH_LIMIT_S:.0f} s; try again later") from None
    if done.returncode == 0:
        return
    said = done.stdout + done.stderr
    # Ivy calls everything it could not read "not found"; only its list of errors tells a missing version from a
    # registry that is away or asks to slow down.
    trouble = re.search(r"(?:Server access error|CLIENT ERROR|SERVER ERROR|FAILED DOWNLOADS)[^\n]*", said)
    if trouble is None and (missing := re.search(r":: (\S+): not found", said)):
        name = missing[1].replace("#", ":").replace(";", ":")
        raise UnavailableError(f"{name} is not in the registry reached from here; choose another version")
    cause = re.search(r"\(([^()]*(?:Exception|Error)[^()]*)\)", trouble[0]) if trouble else None
    detail = f" ({cause[1]})" if cause else ""
    raise _UnreachedError(
        f"the Maven registry did not give {what}{detail}; check the network, or set KAFKA_HOME for Kafka"
    )
