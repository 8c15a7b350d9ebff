"""Serves the plan board to members of consumer groups: `GET /plans/GROUP[?after=VERSION&hold_s=SECONDS]`.

Read-only. With `after` the answer is held back until there is another version, at most `hold_s`.
200 the plan as JSON; 404 no plan for this group, or one the controller no longer stands by.
"""

import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from urllib.parse import parse_qs, unquote, urlsplit

from sluice.errors import InputError
from sluice.execute.board import PlanBoard
from sluice.model import PublishedPlan

MAX_HOLD_S = 60.0
CLOSING_LOOK_S = 0.5


class PlanServer:
    """A thread that answers; one more for each waiting member, which costs next to nothing."""

    def __init__(self, board: PlanBoard, *, host: str = "127.0.0.1", port: int = 0) -> None:
        try:
            self._server = _Server((host, port), board)
        except OSError as error:
            raise InputError(
                f"plan server cannot listen on {host}:{port}: {error.strerror}; choose another port"
            ) from error
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="sluice-plan-server")
        self._thread.start()

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def close(self) -> None:
        self._server.closing = True
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> "PlanServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Members that wait must not keep the controller from ending.
    block_on_close = False
    # A whole group asks at once when its plan changes.
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], board: PlanBoard) -> None:
        self.board = board
        self.closing = False
        super().__init__(address, _Answer)


class _Answer(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10.0
    """A client that connects and says nothing is dropped."""

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        _, _, group = where.path.rpartition("/plans/")
        try:
            asked = {key: float(values[-1]) for key, values in parse_qs(where.query).items()}
        except ValueError:
            return self._send(HTTPStatus.BAD_REQUEST, "after and hold_s are numbers")
        plan = self._plan(unquote(group), asked.get("after"), min(asked.get("hold_s", 0.0), MAX_HOLD_S))
        if plan is None:
            return self._send(HTTPStatus.NOT_FOUND, "no plan for this group")
        return self._send(HTTPStatus.OK, plan.to_json())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: every member asks all the time."""

    def _plan(self, group: str, after: float | None, hold_s: float) -> PublishedPlan | None:
        board = self.server.board
        deadline = time.monotonic() + hold_s
        while after is not None and not self.server.closing and (left_s := deadline - time.monotonic()) > 0:
            plan = board.wait(group, int(after), min(left_s, CLOSING_LOOK_S))
            if plan is not None and plan.version != after:
                break
        return None if self.server.closing else board.read(group)

    def _send(self, status: HTTPStatus, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status is HTTPStatus.OK else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # the member gave up waiting
            self.wfile.write(body)
