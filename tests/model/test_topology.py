"""Stages joined by topics."""

import pytest

from sluice.errors import InputError
from sluice.model import Stage, Topology


def stage(name: str, reads: str, writes: str = "") -> Stage:
    return Stage(name=name, inputs=tuple(reads.split()), outputs=tuple(writes.split()))


def test_order_and_paths_of_a_diamond() -> None:
    # Named against the flow: the order must come from the topics.
    diamond = Topology(
        stages=(stage("a", "left right"), stage("b", "in", "left"), stage("c", "in", "right"), stage("d", "in")),
        sources=("in",),
    )
    assert [s.name for s in diamond.order] == ["b", "c", "d", "a"]
    assert sorted(diamond.paths) == [("b", "a"), ("c", "a"), ("d",)]
    assert [s.name for s in diamond.readers("b")] == ["a"]


def test_a_stage_fed_from_outside_and_from_within_starts_a_path_too() -> None:
    mixed = Topology(stages=(stage("a", "in", "mid"), stage("b", "mid other")), sources=("in", "other"))
    assert sorted(mixed.paths) == [("a", "b"), ("b",)]


def test_one_group_alone_is_a_topology() -> None:
    assert Topology(stages=(stage("g", "in"),), sources=("in",)).paths == (("g",),)


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ((), "no stages"),
        ((stage("a", "in"), stage("a", "in")), "'a' is described twice"),
        ((stage("a", "in", "mid"), stage("b", "mdi")), "reads 'mdi', which nobody writes; did you mean 'mid'"),
        ((Stage(name="a", inputs=()),), "'a' reads no topic"),
        ((stage("z", "in"), stage("a", "y", "x"), stage("b", "x", "y")), "stages a, b feed each other in a circle"),
        ((stage("a", "in out", "out"),), "stages a feed each other in a circle"),
        # Who only reads from a circle is not in it.
        ((stage("a", "in out", "out"), stage("b", "out", "far"), stage("c", "far")), "stages a feed each other"),
    ],
)
def test_what_cannot_flow_is_refused(stages: tuple[Stage, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Topology(stages=stages, sources=("in",))


def test_an_unknown_stage_has_a_near_match() -> None:
    with pytest.raises(InputError, match="did you mean 'resize'"):
        Topology(stages=(stage("resize", "in"),), sources=("in",)).stage("rezise")
