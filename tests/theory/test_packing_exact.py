"""Lower bound <= exact <= heuristic <= the heuristic's known worst case, and the exact solver against enumeration."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.theory.arrays import FloatArray, IntArray
from sluice.theory.packing import PACKERS, exact_packing, least_loaded, lower_bound, rscore

CAPACITY = 20.0
UNASSIGNED = -1
# Sizes around a third and a half of a bin are where bounds and heuristics part.
SIZES = st.lists(st.integers(1, 20).map(float), min_size=1, max_size=12)


def groupings(n: int) -> Iterator[list[int]]:
    """Every way to group n items, as group numbers in order of first appearance."""

    def grow(head: list[int]) -> Iterator[list[int]]:
        if len(head) == n:
            yield head
            return
        for group in range(max(head, default=-1) + 2):
            yield from grow([*head, group])

    yield from grow([])


def holds(size: FloatArray, bins: IntArray, capacity: float) -> bool:
    """Whether every bin keeps the capacity in every dimension, or holds one item alone."""
    rows = size if size.ndim == 2 else size[:, None]
    return all((bins == b).sum() == 1 or bool(np.all(rows[bins == b].sum(axis=0) <= capacity)) for b in np.unique(bins))


def count(bins: IntArray) -> int:
    return len(np.unique(bins))


def fewest_by_enumeration(size: FloatArray, capacity: float) -> int:
    return min(max(g) + 1 for g in groupings(len(size)) if holds(size, np.array(g), capacity))


@settings(max_examples=40)
@given(st.lists(st.integers(0, 25).map(float), min_size=1, max_size=7))
def test_one_dimension_against_enumeration(sizes: list[float]) -> None:
    size = np.array(sizes)
    packed = exact_packing(size, CAPACITY)
    assert holds(size, packed, CAPACITY)
    assert set(packed.tolist()) == set(range(count(packed)))
    assert lower_bound(size, CAPACITY) <= count(packed) == fewest_by_enumeration(size, CAPACITY)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 22), st.integers(0, 22)), min_size=1, max_size=7))
def test_two_dimensions_against_enumeration(sizes: list[tuple[int, int]]) -> None:
    size = np.array(sizes, dtype=np.float64)
    packed = exact_packing(size, [CAPACITY, CAPACITY])
    assert holds(size, packed, CAPACITY)
    assert lower_bound(size, CAPACITY) <= count(packed) == fewest_by_enumeration(size, CAPACITY)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 22).map(float), st.integers(-1, 3)), min_size=1, max_size=5),
    st.sampled_from([0.1, 0.5, 2.0]),
)
def test_with_a_price_on_migration_against_enumeration(items: list[tuple[float, int]], weight: float) -> None:
    size, owner = np.array([s for s, _ in items]), np.array([o for _, o in items])

    def cost(bins: IntArray) -> float:
        return count(bins) + weight * rscore(np.minimum(size, CAPACITY), owner, bins, CAPACITY)

    best = np.inf
    for group in groupings(len(size)):
        if holds(size, np.array(group), CAPACITY):
            for names in _namings(max(group) + 1, sorted({*owner.tolist(), *range(4, 9)} - {UNASSIGNED})):
                best = min(best, cost(np.array([names[g] for g in group])))
    packed = exact_packing(size, CAPACITY, owner=owner, migration_weight=weight)
    assert holds(size, packed, CAPACITY)
    assert cost(packed) == pytest.approx(best, abs=1e-9)


def _namings(groups: int, names: list[int]) -> Iterator[tuple[int, ...]]:
    if groups == 0:
        yield ()
        return
    for rest in _namings(groups - 1, names):
        for name in names:
            if name not in rest:
                yield (*rest, name)


@settings(max_examples=60)
@given(SIZES)
def test_bound_exact_heuristic_worst_case(sizes: list[float]) -> None:
    size = np.array(sizes)
    nobody = np.full(len(size), UNASSIGNED)
    best = count(exact_packing(size, CAPACITY))
    assert lower_bound(size, CAPACITY) <= best
    # Two bins that could be one are never both opened: at most 2 OPT - 1 (Johnson 1973). First and best fit: 1.7 OPT
    # (Dosa and Sgall 2013, 2014). First fit decreasing: 11/9 OPT + 6/9 (Dosa 2007), best fit decreasing + 4 (Johnson).
    worst = {"ff": 17 * best // 10, "bf": 17 * best // 10, "ffd": (11 * best + 6) // 9, "bfd": (11 * best + 36) // 9}
    for name, pack in PACKERS.items():
        used = count(pack(size, nobody, CAPACITY))
        assert best <= used <= min(worst.get(name, np.inf), 2 * best - 1), name
    # A bin that refuses an item is over half full of items no smaller: no refusal with 2 OPT bins.
    flat = least_loaded(size, np.zeros(len(size)), rate_capacity=CAPACITY, lag_capacity=1.0)
    assert best <= flat.count <= 2 * best


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 22), st.integers(0, 22)), min_size=1, max_size=9))
def test_two_dimensional_bound_exact_least_loaded(sizes: list[tuple[int, int]]) -> None:
    size = np.array(sizes, dtype=np.float64)
    best = count(exact_packing(size, CAPACITY))
    packing = least_loaded(size[:, 0], size[:, 1], rate_capacity=CAPACITY, lag_capacity=CAPACITY)
    assert lower_bound(size, CAPACITY) <= best <= packing.count <= len(size)
    assert holds(size, packing.bins, CAPACITY)


@given(st.lists(st.floats(0.0, 1.3), min_size=1, max_size=10))
def test_rounding_lifts_no_bound_over_what_a_packer_uses(sizes: list[float]) -> None:
    size = np.array(sizes)
    for name in ("ffd", "bfd"):
        assert lower_bound(size, 1.0) <= count(PACKERS[name](size, np.full(len(size), UNASSIGNED), 1.0))


def test_each_bound_is_the_best_one_somewhere() -> None:
    assert lower_bound([0.5] * 7, 1.0) == 4  # total size
    assert lower_bound([0.6] * 5 + [0.1], 1.0) == 5  # items over a half: Martello and Toth
    assert lower_bound([0.6, 0.6, 0.45, 0.45, 0.45], 1.0) == 4  # no 0.45 beside a 0.6: Martello and Toth
    assert lower_bound([0.3] * 10, 1.0) == 4  # three fit together
    assert lower_bound(np.array([[0.1, 0.6], [0.1, 0.6], [0.1, 0.6]]), 1.0) == 3  # the second dimension
    assert lower_bound([1.5, 0.2], 1.0) == 2  # oversize sits alone
    assert lower_bound([], 1.0) == 0


def test_owners_keep_their_numbers_without_a_price_too() -> None:
    size, owner = np.array([15.0, 4.0, 15.0, 4.0]), np.array([7, 7, 3, UNASSIGNED])
    assert exact_packing(size, CAPACITY, owner=owner).tolist() in ([7, 7, 3, 3], [7, 3, 3, 7])


def test_a_capacity_hit_exactly_is_kept_and_a_hair_over_is_not() -> None:
    hair = 1e-7  # within the solver's tolerance, not within ours
    assert count(exact_packing([0.5, 0.5, 0.3, 0.3, 0.4, 0.35, 0.35, 0.3], 1.0)) == 3
    size = np.array([0.5 + hair, 0.5, 0.3, 0.3, 0.4, 0.35, 0.35, 0.3 - hair])
    packed = exact_packing(size, 1.0)
    assert holds(size, packed, 1.0 + 1e-9)
    assert count(packed) == fewest_by_enumeration(size, 1.0 + 1e-9)


@pytest.mark.parametrize(
    ("size", "capacity", "owner", "weight", "message"),
    [
        ([1.0, float("nan")], 1.0, None, 0.0, r"size\[1\] = nan"),
        ([1.0], 0.0, None, 0.0, "capacity = 0.0"),
        ([1.0], 1.0, [0, 1], 0.0, "owner has shape"),
        ([1.0], 1.0, [0], -1.0, "migration_weight = -1.0"),
    ],
)
def test_bad_input_is_named(
    size: list[float], capacity: float, owner: list[int] | None, weight: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        exact_packing(size, capacity, owner=owner, migration_weight=weight)


def test_time_runs_out_with_a_clear_word() -> None:
    draw = np.random.default_rng(1)
    with pytest.raises(InputError, match=r"exact packing of 60 items did not end within 0\.01 s"):
        exact_packing(draw.uniform(0, 60, (60, 2)), 100.0, time_limit_s=0.01)
