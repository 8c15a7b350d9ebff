"""The committed offset of a partition is asked for until it is told, and only for who still wants it."""

import time
from collections.abc import Callable, Collection
from threading import Event as Flag

import pytest

from sluice.errors import UnavailableError
from sluice.model import Partition
from sluice.sdk.managed_lookup import Found, OffsetLookup

P, Q = Partition("orders", 0), Partition("orders", 1)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come true"
        time.sleep(0.005)


def test_a_refused_question_is_asked_again() -> None:
    refusals = [UnavailableError("not coordinator"), UnavailableError("loading")]

    def committed(partitions: Collection[Partition]) -> dict[Partition, int | None]:
        if refusals:
            raise refusals.pop()
        return {partition: 42 if partition == P else None for partition in partitions}

    lookup = OffsetLookup(committed)
    lookup.ask(P, 7)
    lookup.ask(Q, 8)
    wait_for(lambda: len(lookup.found) == 2)
    lookup.close()
    assert list(lookup.found) == [Found(P, 7, 42), Found(Q, 8, None)]


@pytest.mark.parametrize("again", [True, False])
def test_an_answer_nobody_waits_for_any_more_is_dropped(again: bool) -> None:
    asked, answer = Flag(), Flag()

    def committed(partitions: Collection[Partition]) -> dict[Partition, int | None]:
        asked.set()
        answer.wait(10)
        return dict.fromkeys(partitions, 1)

    lookup = OffsetLookup(committed)
    lookup.ask(P, 1)
    asked.wait(10)
    lookup.withdraw(P)
    if again:
        lookup.ask(P, 2)
    answer.set()
    if again:
        wait_for(lambda: bool(lookup.found))
    lookup.close()
    assert list(lookup.found) == ([Found(P, 2, 1)] if again else [])
