"""The checks of the chaos run find what they are there to find."""

import json
import re
import struct

import pytest
from tests.live.chaos_checks import (
    Tenancy,
    breaches,
    commits_gone_back,
    decode_commit,
    duplicates,
    longest_standstill_s,
    tenancies_of,
)

from sluice.model import Partition

P = Partition("t", 0)


def lines(*records: tuple[object, ...]) -> list[str]:
    return [json.dumps(record) for record in records]


def begin(time_s: float, epoch: int) -> tuple[object, ...]:
    return (time_s, "log", f"begin t-0 epoch {epoch} offset 0")


def end(time_s: float, epoch: int) -> tuple[object, ...]:
    return (time_s, "log", f"end t-0 epoch {epoch} offset 0")


def events(time_s: float, *offsets: int) -> list[tuple[object, ...]]:
    return [(time_s + i / 10, "event", "t-0", offset, "") for i, offset in enumerate(offsets)]


def told(**files: list[str]) -> list[Tenancy]:
    return [tenancy for process, each in files.items() for tenancy in tenancies_of(process, each)]


def test_an_orderly_handover_is_no_breach() -> None:
    both = told(
        a=lines(begin(0, 1), *events(0, 0, 1), end(1, 1)),
        b=lines(begin(1, 2), *events(1.1, 2, 3)),
    )
    assert breaches(both, {P: 4}) == []
    assert duplicates(both) == 0


def test_one_event_in_hand_may_be_finished_after_a_fault_and_what_was_not_committed_comes_again() -> None:
    both = told(
        a=lines(begin(0, 1), *events(0, 0, 1), *events(9, 2)),
        b=lines(begin(5, 2), *events(5.1, 1, 2, 3)),
    )
    assert breaches(both, {P: 4}) == []
    assert duplicates(both) == 2


@pytest.mark.parametrize(
    ("files", "count", "text"),
    [
        ({"a": lines(begin(0, 1), *events(0, 0, 1))}, 3, "1 of 3 events never handled, the first 2"),
        (
            {"a": lines(begin(0, 1), *events(0, 0), *events(9, 1, 2)), "b": lines(begin(5, 2), *events(5.1, 1, 2))},
            3,
            "a handled 2 events after its successor had begun",
        ),
        (
            {"a": lines(begin(0, 1), *events(0, 0), end(1, 1)), "b": lines(begin(2, 2), *events(2, 0, 1))},
            2,
            "events of a, who let go in order, were handled again",
        ),
        ({"a": lines(begin(0, 1), *events(0, 0, 2, 1))}, 3, "epoch 1: a skipped or repeated events"),
        ({"a": lines(*events(0, 0))}, 1, "without having been given it"),
        (
            {"a": lines(begin(0, 3), *events(0, 0)), "b": lines(begin(1, 2))},
            1,
            "epoch 2 began after a later one",
        ),
        ({"a": lines(begin(0, 1), *events(0, 0)), "b": lines(begin(1, 1))}, 1, "an epoch was given twice"),
    ],
)
def test_breaches_are_found(files: dict[str, list[str]], count: int, text: str) -> None:
    assert any(re.search(text, line) for line in breaches(told(**files), {P: count}))


def test_a_standstill_is_what_the_broker_is_not_to_blame_for() -> None:
    both = told(
        a=lines(begin(0, 1), *events(0, 0, 1)),
        b=lines(begin(5, 2), *events(8.1, 1, 2)),
    )
    assert longest_standstill_s(both, []) == pytest.approx(8.0)
    assert longest_standstill_s(both, [(2.0, 4.0), (7.0, 20.0)]) == pytest.approx(8.0 - 2.0 - 1.1)
    assert longest_standstill_s([], []) == 0.0


def test_commits_that_go_back_are_found() -> None:
    assert commits_gone_back([(P, 5), (Partition("t", 1), 1), (P, 7)]) == []
    assert commits_gone_back([(P, 5), (P, 4)]) == ["t-0: the committed offset went back from 5 to 4"]


def test_a_record_of_the_offsets_topic_is_read() -> None:
    key = struct.pack(">hh", 1, 2) + b"g1" + struct.pack(">h", 3) + b"pay" + struct.pack(">i", 4)
    value = struct.pack(">hq", 3, 99)
    assert decode_commit(key, value, "g1") == (Partition("pay", 4), 99)
    assert decode_commit(key, value, "g2") is None
    assert decode_commit(struct.pack(">h", 2), b"x", "g1") is None
