"""Publishing: versions, age, the file, and the HTTP endpoint as a member sees it."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from queue import SimpleQueue

import pytest

from sluice.errors import InputError, UnavailableError
from sluice.execute.board import PlanBoard
from sluice.execute.plan_server import PlanServer
from sluice.model import Assignment, Partition, PublishedPlan
from sluice.sdk.group_source import FILE_MAX_AGE_S, HOLD_S, FileSource, HttpSource, make_source
from sluice.sdk.group_watch import PlanWatch

ONE = Assignment.of({"c0": [Partition("a-b", 0), Partition("a-b", 1)]})
TWO = Assignment.of({"c0": [Partition("a-b", 0)], "c1": [Partition("a-b", 1)], "idle": []})


@dataclass
class Clock:
    time_s: float = 1_000.0

    def __call__(self) -> float:
        return self.time_s


def test_a_plan_survives_the_wire() -> None:
    for wake in (True, False):
        plan = PublishedPlan(group="g", version=7, time_s=3.5, target=TWO, wake=wake)
        assert PublishedPlan.from_json(plan.to_json()) == plan
    for text in ("", "[]", "{}", '{"group":"g","version":1,"time_s":0,"owned":{"c":["nonsense"]}}'):
        with pytest.raises(InputError):
            PublishedPlan.from_json(text)


def test_the_version_changes_with_the_target_only_and_never_comes_twice() -> None:
    clock = Clock()
    board = PlanBoard(now=clock)
    first = board.publish("g", ONE)
    clock.time_s += 5
    again = board.publish("g", Assignment.of({"c0": [Partition("a-b", 1), Partition("a-b", 0)]}))
    assert (again.version, again.time_s) == (first.version, 1_005.0)
    clock.time_s -= 100  # a clock that was set back
    other = board.publish("g", TWO, wake=False)
    assert other.version > first.version
    # What members have heard of a plan does not change afterwards.
    assert not board.publish("g", TWO, wake=True).wake
    successor = PlanBoard(now=Clock(1_020.0))
    assert successor.publish("g", ONE).version not in (first.version, first.version + 1)


def test_a_plan_nobody_stands_by_is_not_shown() -> None:
    clock = Clock()
    board = PlanBoard(now=clock, max_age_s=10.0)
    board.publish("g", ONE)
    clock.time_s += 9
    board.publish("g", ONE)
    clock.time_s += 9
    assert board.read("g") is not None
    clock.time_s += 9
    assert board.read("g") is None
    assert board.wait("g", 0, 0.0) is None


def test_who_waits_at_the_board_is_woken_by_the_next_plan() -> None:
    board, heard = PlanBoard(), SimpleQueue[PublishedPlan | None]()
    first = board.publish("g", ONE)
    threading.Thread(target=lambda: heard.put(board.wait("g", first.version, 60.0)), daemon=True).start()
    time.sleep(0.1)  # so that it waits, as a rule
    assert heard.empty()
    second = board.publish("g", TWO)
    assert heard.get(timeout=20.0) == second


def test_the_file_is_as_good_as_the_endpoint_until_it_grows_old(tmp_path: Path) -> None:
    clock = Clock()
    board = PlanBoard(now=clock, folder=tmp_path / "plans")
    path = board.path("a/g")
    assert path is not None
    source = FileSource(path, "a/g", now=clock)
    assert source.ask(10.0) is None
    plan = board.publish("a/g", TWO)
    assert source.ask(10.0) == plan
    assert source.wait(None) == plan
    assert FileSource(path, "another", now=clock).ask(10.0) is None
    clock.time_s += FILE_MAX_AGE_S + 1
    assert source.ask(10.0) is None


def test_members_hear_of_a_new_plan_at_once() -> None:
    board = PlanBoard()
    with PlanServer(board) as server:
        watch = PlanWatch(make_source(server.url, "g h/ü"))
        first = board.publish("g h/ü", ONE)
        _until(lambda: watch.latest == first)
        second = board.publish("g h/ü", TWO)
        _until(lambda: watch.latest == second)
        assert HttpSource(server.url, "nobody").ask(10.0) is None
    _until(lambda: watch.latest is None)
    watch.close()


@pytest.mark.parametrize("query", ["?after=x", "?hold_s=x"])
def test_nonsense_is_refused(query: str) -> None:
    with PlanServer(PlanBoard()) as server:
        connection = HTTPConnection(server.url.removeprefix("http://"), timeout=10.0)
        connection.request("GET", "/plans/g" + query)
        assert connection.getresponse().status == 400
        connection.close()


def test_a_controller_that_is_away_or_silent_costs_no_more_than_the_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        started_s = time.monotonic()
        assert HttpSource(f"http://127.0.0.1:{port}", "g").ask(0.2) is None
        assert 0.15 < time.monotonic() - started_s < 5.0
    assert HttpSource(f"http://127.0.0.1:{port}", "g").ask(0.2) is None


def test_an_answer_that_drips_in_is_cut_off() -> None:
    cut = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as slow:

        def drip() -> None:
            client, _ = slow.accept()
            with client, suppress(OSError):
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                for _ in range(400):  # 20 s, each byte well within the limit
                    client.sendall(b" ")
                    if cut.wait(0.05):
                        break

        threading.Thread(target=drip, daemon=True).start()
        started_s = time.monotonic()
        assert HttpSource(f"http://127.0.0.1:{slow.getsockname()[1]}", "g").ask(0.2) is None
        cut.set()
        assert time.monotonic() - started_s < 10.0


@pytest.mark.parametrize("place", ["ftp://host/x", "http://", "http://host:port"])
def test_a_source_that_cannot_be_is_named(place: str) -> None:
    with pytest.raises(InputError, match="plan source"):
        make_source(place, "g")


def test_a_taken_port_is_one_clear_line() -> None:
    with PlanServer(PlanBoard()) as server, pytest.raises(InputError, match="cannot listen"):
        PlanServer(PlanBoard(), port=int(server.url.rpartition(":")[2]))


def _until(condition: Callable[[], bool]) -> None:
    """Within half of the time a question is held open: who only asks again when it is over is too late."""
    deadline_s = time.monotonic() + HOLD_S / 2
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


def test_only_a_leader_publishes_and_members_refuse_an_older_leadership(tmp_path: Path) -> None:
    leads: dict[str, int | None] = {"old": 3, "new": None}
    old = PlanBoard(folder=tmp_path, epoch=lambda _: leads["old"])
    new = PlanBoard(folder=tmp_path, epoch=lambda _: leads["new"])
    place = old.path("g")
    assert place is not None
    source = make_source(str(place), "g")
    with pytest.raises(UnavailableError, match="another controller leads"):
        new.publish("g", TWO)
    old.publish("g", TWO)
    first = source.ask(10.0)
    assert first is not None
    assert first.epoch == 3
    leads["new"] = 7
    new.publish("g", ONE)
    second = source.ask(10.0)
    assert second is not None
    assert second.epoch == 7
    # It was stopped in the middle of its work, wakes up, and believes in itself for an instant.
    old.publish("g", TWO)
    assert source.ask(10.0) is None
    new.publish("g", ONE)
    assert source.ask(10.0) == new.read("g")
