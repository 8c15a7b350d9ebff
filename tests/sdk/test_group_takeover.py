"""Pauses of partitions that change hands, told by hand."""

import math

import pytest

from sluice.model import Partition
from sluice.sdk.event import Event
from sluice.sdk.group_takeover import Takeovers, mark

A, B = Partition("t", 0), Partition("t", 1)


def event(partition: Partition, arrived_s: float) -> Event:
    return Event(partition, 7, None, b"x", arrived_s)


def test_a_pause_lasts_from_the_release_to_the_first_event_that_waited() -> None:
    takeovers = Takeovers()
    takeovers.begin([A, B], 100.4)
    assert takeovers.unread == {A, B}
    takeovers.read(A, mark(100.0))
    takeovers.read(B, mark(99.0))
    assert takeovers.unread == set()
    # A had an event waiting since before the release, B got one in between: nobody can say that B stood still before.
    waited = [event(A, 99.9), event(B, 100.3), event(A, 100.45)]
    assert takeovers.pause_s(waited, 100.5) == pytest.approx(0.5)
    assert takeovers.pause_s([event(A, 100.6)], 101.0) is None


def test_an_event_that_came_later_tells_nothing() -> None:
    takeovers = Takeovers()
    takeovers.begin([A], 100.0)
    takeovers.read(A, mark(50.0))
    assert takeovers.pause_s([event(A, 130.0)], 130.01) is None


@pytest.mark.parametrize("text", [None, "", "hello", "sluice", "sluice soon", "12.5"])
def test_a_commit_that_is_not_ours_tells_nothing(text: str | None) -> None:
    takeovers = Takeovers()
    takeovers.begin([A], 100.0)
    takeovers.read(A, text)
    assert takeovers.unread == set()
    assert takeovers.pause_s([event(A, 99.0)], 101.0) is None


def test_nothing_is_made_of_clocks_that_disagree_or_stamps_that_are_missing() -> None:
    for released_s, arrived_s in ((105.0, 99.0), (99.0, math.nan)):
        takeovers = Takeovers()
        takeovers.begin([A], 100.0)
        takeovers.read(A, mark(released_s))
        assert takeovers.pause_s([event(A, arrived_s)], 101.0) is None


def test_a_partition_that_has_gone_again_is_forgotten() -> None:
    takeovers = Takeovers()
    takeovers.begin([A, B], 100.0)
    takeovers.read(A, mark(99.0))
    takeovers.end([A, B])
    assert takeovers.unread == set()
    assert takeovers.pause_s([event(A, 99.5)], 101.0) is None
