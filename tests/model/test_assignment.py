"""Assignments: moves between two of them, and naming bins so that the most load stays."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.model import NOBODY, Assignment, Move, Partition
from sluice.model import assignment as module
from sluice.model.assignment import fresh_names, name_bins
from sluice.model.values import FloatArray, IntArray, floats, ints

P = [Partition("t", i) for i in range(6)]


def test_moves_name_every_change_of_hands() -> None:
    before = Assignment.of({"a": P[:2], "b": P[2:4]}, partitions=P)
    after = Assignment.of({"b": [P[0], P[2]], "c": [P[3], P[4]]}, partitions=P)
    assert set(before.moves(after)) == {
        Move(P[0], "a", "b"),
        Move(P[1], "a", None),
        Move(P[3], "b", "c"),
        Move(P[4], None, "c"),
    }
    # A first assignment or a departure is no migration.
    assert [p for p, moved in zip(P, before.moved(after), strict=True) if moved] == [P[0], P[3]]


def test_the_order_of_consumers_does_not_matter() -> None:
    one = Assignment.of({"a": P[:3], "b": P[3:]})
    other = Assignment.of({"b": P[3:], "a": P[:3]})
    assert one.same_as(other)
    assert one.moves(other) == ()
    assert not one.same_as(Assignment.of({"a": P[:2], "b": P[2:]}))


def test_an_idle_consumer_makes_a_difference() -> None:
    one = Assignment.of({"a": P})
    assert not one.same_as(Assignment.of({"a": P, "b": []}))


def test_a_partition_has_one_owner() -> None:
    with pytest.raises(InputError, match="t-1 is owned twice"):
        Assignment.of({"a": P[:2], "b": P[1:]})


def test_load_counts_only_what_is_owned() -> None:
    assignment = Assignment.of({"a": P[:2], "b": P[2:3]}, partitions=P)
    assert assignment.load(floats([1, 2, 4, 8, 16, 32])).tolist() == [3.0, 4.0]


def test_other_partitions_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="different partitions"):
        Assignment.of({"a": P[:2]}).moves(Assignment.of({"a": P}))


def test_fresh_names_fill_the_gaps() -> None:
    assert fresh_names(["c0", "c2", "worker"], 3) == ("c1", "c3", "c4")


def test_owners_past_the_current_ones_are_fresh_and_unused_ones_leave() -> None:
    now = Assignment.of({"c0": P[:3], "c1": P[3:]})
    then = now.with_owners(ints([1, 1, 1, 3, 3, 3]))
    assert then.owned() == {"c1": tuple(P[:3]), "c3": tuple(P[3:])}


loads = st.lists(st.integers(0, 50), min_size=1, max_size=7)


@given(data=st.data(), weight=loads)
def test_naming_keeps_as_much_as_any_naming_can(data: st.DataObject, weight: list[int]) -> None:
    n = len(weight)
    bins = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    owner = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    kept = name_bins(ints(bins), 4, ints(owner), 4, floats(weight))
    assert len({old for old in kept if old != NOBODY}) == sum(old != NOBODY for old in kept)

    def worth(names: tuple[int, ...] | list[int]) -> int:
        return sum(w for w, b, o in zip(weight, bins, owner, strict=True) if o >= 0 and names[b] == o)

    assert worth(kept) == max(worth(names) for names in itertools.permutations(range(4)))


@given(data=st.data(), weight=loads)
def test_the_quick_naming_of_large_groups_is_a_naming_too(data: st.DataObject, weight: list[int]) -> None:
    n = len(weight)
    bins = ints(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    owner = ints(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    large = module.EXACT_NAMING_LIMIT + 1
    # More bins than the exact naming takes: the same partitions, the rest empty.
    kept = name_bins(bins, large, owner, 3, floats(weight))
    used = [old for old in kept if old != NOBODY]
    assert sorted(used) == [0, 1, 2]
    assert _kept_weight(kept, bins, owner, floats(weight)) * 2 >= _best_weight(bins, owner, floats(weight))


def _kept_weight(kept: list[int], bins: IntArray, owner: IntArray, weight: FloatArray) -> float:
    return float(sum(w for w, b, o in zip(weight, bins, owner, strict=True) if o >= 0 and kept[int(b)] == o))


def _best_weight(bins: IntArray, owner: IntArray, weight: FloatArray) -> float:
    names = itertools.permutations([0, 1, 2, NOBODY])
    return max(_kept_weight([*n, *([NOBODY] * 0)], bins, owner, weight) for n in names)


def test_bins_keep_the_survivors_order() -> None:
    now = Assignment.of({"x": P[:2], "y": P[2:4], "z": P[4:]})
    then = now.with_bins(ints([2, 2, 0, 0, 1, 1]), 3, floats(np.ones(6)))
    assert then.same_as(now)
    assert then.consumers == ("x", "y", "z")
