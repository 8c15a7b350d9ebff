"""Where a member gets the plan from: the controller over HTTP, or the file it publishes."""

import http.client
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Protocol, TypeVar
from urllib.parse import quote, urlsplit

from sluice.errors import InputError
from sluice.model import PublishedPlan

_T = TypeVar("_T")

FILE_LOOK_S = 0.1
# A file cannot say that its writer is gone; a plan nobody has stood by for this long counts as nobody's.
FILE_MAX_AGE_S = 60.0
# What a proxy or a load balancer in between lets stand open.
HOLD_S = 20.0


class PlanSource(Protocol):
    """Neither call raises: None means that the controller is away, silent, or has no plan for this group."""

    def ask(self, limit_s: float) -> PublishedPlan | None:
        """The plan in force, or None after `limit_s` at the latest."""
        ...

    def wait(self, version: int | None) -> PublishedPlan | None:
        """The next plan whose version is not `version`; returns now and then with the old one."""
        ...


def make_source(place: str, group: str) -> PlanSource:
    """`http://HOST:PORT` of the controller, or the path of the file it writes."""
    scheme = urlsplit(place).scheme
    if scheme in ("http", "https"):
        return FencedSource(HttpSource(place, group))
    if scheme in ("", "file"):
        return FencedSource(FileSource(Path(urlsplit(place).path), group))
    raise InputError(f"plan source {place!r} is neither http://HOST:PORT nor a file; give the controller's address")


class FencedSource:
    """Refuses the plan of a controller that no longer leads: one of an older epoch than was seen before."""

    def __init__(self, source: PlanSource) -> None:
        self._source = source
        self._epoch = 0

    def ask(self, limit_s: float) -> PublishedPlan | None:
        return self._newest(self._source.ask(limit_s))

    def wait(self, version: int | None) -> PublishedPlan | None:
        return self._newest(self._source.wait(version))

    def _newest(self, plan: PublishedPlan | None) -> PublishedPlan | None:
        if plan is None or plan.epoch < self._epoch:
            return None
        self._epoch = plan.epoch
        return plan


class HttpSource:
    """Asks the controller. No proxy from the environment is used: the controller is the group's neighbour."""

    def __init__(self, url: str, group: str) -> None:
        parts = urlsplit(url)
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if not host:
            raise InputError(f"plan source {url!r} names no host; give http://HOST:PORT of the controller")
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port = host, port
        self._path = f"{parts.path.rstrip('/')}/plans/{quote(group, safe='')}"

    def ask(self, limit_s: float) -> PublishedPlan | None:
        return within(limit_s, lambda: self._get(self._path, limit_s))

    def wait(self, version: int | None) -> PublishedPlan | None:
        return self._get(f"{self._path}?after={-1 if version is None else version}&hold_s={HOLD_S}", HOLD_S + 5.0)

    def _get(self, path: str, limit_s: float) -> PublishedPlan | None:
        connection = self._kind(self._host, self._port, timeout=limit_s)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return PublishedPlan.from_json(answer.read()) if answer.status == http.client.OK else None
        except (OSError, http.client.HTTPException, InputError):
            return None
        finally:
            connection.close()


class FileSource:
    """Reads the file the controller replaces with every plan: for members that share a disk with it."""

    def __init__(self, path: Path, group: str, *, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._group = group
        self._now = now

    def ask(self, limit_s: float) -> PublishedPlan | None:
        return within(limit_s, self._read)

    def wait(self, version: int | None) -> PublishedPlan | None:
        deadline = time.monotonic() + HOLD_S
        while True:
            plan = self._read()
            if plan is None or plan.version != version or time.monotonic() > deadline:
                return plan
            time.sleep(FILE_LOOK_S)

    def _read(self) -> PublishedPlan | None:
        try:
            plan = PublishedPlan.from_json(self._path.read_bytes())
        except (OSError, InputError):
            return None
        return plan if plan.group == self._group and self._now() - plan.time_s <= FILE_MAX_AGE_S else None


def within(limit_s: float, call: Callable[[], _T]) -> _T | None:
    """The call's result, or None when it takes longer: a socket's own limit covers neither names nor slow answers."""
    box: SimpleQueue[_T] = SimpleQueue()
    Thread(target=lambda: box.put(call()), daemon=True, name="sluice-ask").start()
    try:
        return box.get(timeout=limit_s)
    except Empty:
        return None
