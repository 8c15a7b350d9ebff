"""How a signal ends a long run."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event

# Supervisors and shells tell a process and then its whole group: that is one word, not two.
SAME_WORD_S = 1.0


@contextmanager
def stopping_in_order(stop: Event, *, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """SIGTERM and Ctrl-C set `stop`; one that comes more than a second after the first ends the program at once."""
    asked_s: float | None = None

    def told(number: int, _: object) -> None:
        nonlocal asked_s
        if asked_s is None:
            asked_s = clock()
            stop.set()
        elif clock() - asked_s > SAME_WORD_S:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    with ExitStack() as stack:
        for number in (signal.SIGTERM, signal.SIGINT):
            stack.callback(signal.signal, number, signal.signal(number, told))
        yield
