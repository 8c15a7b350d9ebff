"""Control messages survive the wire, and the log decides who leads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.model import Partition
from sluice.model.commands import (
    Beat,
    Closed,
    Evict,
    Hold,
    Lead,
    Record,
    Reign,
    Release,
    Report,
    Start,
    Stop,
    record_from_wire,
    record_to_wire,
    report_from_wire,
    report_to_wire,
)

P = Partition("pay-ments", 3)


@pytest.mark.parametrize(
    "record",
    [
        Lead(term=2, leader="a"),
        Beat(instance="i1", number=7),
        Start(term=2, leader="a", partition=P, epoch=5, offset=None, lease_s=2.0, consumer="c1", instance="i1"),
        Start(term=2, leader="a", partition=P, epoch=5, offset=1, lease_s=2, stood_s=0.1, consumer="c", instance="i"),
        Stop(term=2, leader="a", partition=P, epoch=5, consumer="c1", instance="i1"),
        Evict(term=2, leader="a", consumer="c1", instance="i1"),
        Closed(term=2, leader="a", consumer="c1", instance="i1"),
    ],
)
def test_records_survive_the_wire(record: Record) -> None:
    assert record_from_wire(record_to_wire(record)) == record


def test_reports_survive_the_wire() -> None:
    report = Report(
        consumer="c1",
        instance="i1",
        number=4,
        applied=-1,
        ready=True,
        lease_s=2.0,
        holds=(Hold(partition=P, epoch=5, reading=True),),
        releases=(Release(partition=P, epoch=4, offset=None, stood_s=0.01),),
    )
    assert report_from_wire(report_to_wire(report)) == report


@pytest.mark.parametrize("message", [b"", b"nonsense", b"[]", b'{"kind":"Dance"}', b'{"kind":"Lead"}', b"\xff"])
def test_strange_messages_are_refused_with_a_line(message: bytes) -> None:
    with pytest.raises(InputError):
        record_from_wire(message)
    with pytest.raises(InputError):
        report_from_wire(message)


@given(claims=st.lists(st.tuples(st.integers(1, 6), st.sampled_from("abc"))))
def test_of_two_claims_to_a_term_the_first_counts_and_terms_never_go_back(claims: list[tuple[int, str]]) -> None:
    reign = Reign()
    first: dict[int, str] = {}
    for term, leader in claims:
        command = Lead(term=term, leader=leader)
        if term > max(first, default=0):
            first[term] = leader
        assert reign.accepts(command) == (term == max(first) and first[term] == leader)
        before, reign = reign, reign.after(command)
        assert reign.term >= before.term
        assert (reign.term, reign.leader) == (max(first), first[max(first)])
