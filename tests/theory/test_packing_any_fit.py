"""The any-fit family and its modified members against a plain transcription of spec and rule."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.theory.packing import PACKERS

CAPACITY = 100.0
ANY = ("nf", "ff", "bf", "wf", "nfd", "ffd", "bfd", "wfd")
MODIFIED = ("mwf", "mbf", "mwfp", "mbfp")


class Bins:
    """Open bins in opening order, by the letter of the rule: [consumer, load] each."""

    def __init__(self, fit: str) -> None:
        self.fit = fit
        self.open: list[tuple[int, float]] = []

    def offer(self, size: float) -> int:
        candidates = self.open[-1:] if self.fit == "n" else self.open
        takes = [bin_ for bin_ in candidates if bin_[1] + size <= CAPACITY]
        if not takes:
            return -1
        if self.fit == "b":
            chosen = max(takes, key=lambda bin_: bin_[1])  # the first of equals, as `min` below
        elif self.fit == "w":
            chosen = min(takes, key=lambda bin_: bin_[1])
        else:
            chosen = takes[0]
        self.open[self.open.index(chosen)] = (chosen[0], chosen[1] + size)
        return chosen[0]

    def open_for(self, owner: int, size: float) -> int:
        taken = {consumer for consumer, _ in self.open}
        consumer = owner if owner >= 0 and owner not in taken else min(set(range(len(taken) + 1)) - taken)
        self.open.append((consumer, size))
        return consumer

    def place(self, owner: int, size: float) -> int:
        consumer = self.offer(size)
        return consumer if consumer >= 0 else self.open_for(owner, size)


def any_fit(name: str, size: Sequence[float], owner: Sequence[int]) -> list[int]:
    bins = Bins(name[0])
    order = sorted(range(len(size)), key=lambda i: -size[i]) if name.endswith("d") else range(len(size))
    packed = [-1] * len(size)
    for i in order:
        packed[i] = bins.place(owner[i], size[i])
    return packed


def modified(name: str, size: Sequence[float], owner: Sequence[int]) -> list[int]:
    bins = Bins(name[1])
    packed = [-1] * len(size)
    biggest_first = sorted(range(len(size)), key=lambda i: -size[i])
    held = {c: [i for i in biggest_first if owner[i] == c] for c in sorted(set(owner) - {-1})}
    key = {c: size[mine[0]] if name.endswith("p") else _sum(size, mine) for c, mine in held.items()}
    for c in sorted(held, key=lambda c: -key[c]):
        rest = sorted(held[c], key=lambda i: (size[i], i))
        while rest and (taker := bins.offer(size[rest[0]])) >= 0:
            packed[rest.pop(0)] = taker
        if rest:
            load = 0.0
            for i in sorted(rest, key=lambda i: (-size[i], i)):
                if load > 0.0 and load + size[i] > CAPACITY:
                    break
                load += size[i]
                packed[i] = c
            bins.open.append((c, load))
    for i in biggest_first:
        if packed[i] < 0:
            packed[i] = bins.place(owner[i], size[i])
    return packed


def _sum(size: Sequence[float], items: Sequence[int]) -> float:
    total = 0.0
    for i in items:
        total += size[i]
    return total


def by_the_rule(name: str, size: Sequence[float], owner: Sequence[int]) -> list[int]:
    return (any_fit if name in ANY else modified)(name, size, owner)


# Whole numbers make ties and exact fits; some items are over the capacity; some owners are out of the row.
SIZES = st.one_of(st.integers(0, 130).map(float), st.floats(0.0, 120.0))
ITEMS = st.lists(st.tuples(SIZES, st.integers(-1, 9)), max_size=24)


@pytest.mark.parametrize("name", PACKERS)
@given(items=ITEMS)
def test_follows_the_rule(name: str, items: list[tuple[float, int]]) -> None:
    size, owner = [s for s, _ in items], [o for _, o in items]
    packed = PACKERS[name](np.array(size), np.array(owner, dtype=np.int64), CAPACITY)
    assert packed.tolist() == by_the_rule(name, size, owner)


@pytest.mark.parametrize("name", PACKERS)
def test_follows_the_rule_over_a_stream_of_many_items(name: str) -> None:
    draw = np.random.default_rng(7)
    size = draw.integers(0, 60, 700).astype(np.float64)
    owner = np.full(700, -1, dtype=np.int64)
    for _ in range(3):
        packed = PACKERS[name](size, owner, CAPACITY)
        assert packed.tolist() == by_the_rule(name, size.tolist(), owner.tolist())
        owner = packed
        size = np.clip(size + draw.integers(-5, 6, 700), 0, 60)


@pytest.mark.parametrize("name", ["ff", "bf", "wf", "bfd"])
def test_follows_the_rule_with_thousands_of_bins(name: str) -> None:
    size = np.random.default_rng(9).integers(0, 101, 5000).astype(np.float64)
    load = np.full(5000, np.nan)  # NaN where no bin is open yet: it takes nothing
    expected = np.empty(5000, dtype=np.int64)
    for i in np.argsort(-size, kind="stable") if name.endswith("d") else np.arange(5000):
        takes = np.flatnonzero(load + size[i] <= CAPACITY)
        if len(takes):
            rank = {"f": takes, "b": -load[takes], "w": load[takes]}[name[0]]
            b = takes[np.argmin(rank)]
            load[b] += size[i]
        else:
            b = int(np.isfinite(load).sum())
            load[b] = size[i]
        expected[i] = b
    packed = PACKERS[name](size, np.full(5000, -1, dtype=np.int64), CAPACITY)
    assert packed.max() > 2000
    assert np.array_equal(packed, expected)


@pytest.mark.parametrize("name", PACKERS)
@given(items=ITEMS)
def test_keeps_the_capacity_except_for_an_item_alone(name: str, items: list[tuple[float, int]]) -> None:
    size, owner = np.array([s for s, _ in items]), np.array([o for _, o in items], dtype=np.int64)
    packed = PACKERS[name](size, owner, CAPACITY)
    assert len(packed) == len(items)
    for consumer in np.unique(packed):
        mine = packed == consumer
        assert consumer >= 0
        assert mine.sum() == 1 or size[mine].sum() <= CAPACITY + 1e-9


@pytest.mark.parametrize("name", ["nfd", "ffd", "bfd", "wfd"])
@given(items=ITEMS)
def test_a_decreasing_fit_moves_nothing_when_nothing_changed(name: str, items: list[tuple[float, int]]) -> None:
    size, owner = np.array([s for s, _ in items]), np.array([o for _, o in items], dtype=np.int64)
    packed = PACKERS[name](size, owner, CAPACITY)
    assert np.array_equal(PACKERS[name](size, packed, CAPACITY), packed)


@pytest.mark.parametrize("name", MODIFIED)
def test_the_modified_fits_settle_while_nothing_changes(name: str) -> None:
    draw = np.random.default_rng(3)
    size = draw.uniform(0, 100, 200)
    owner = PACKERS["bfd"](size, np.full(200, -1, dtype=np.int64), CAPACITY)
    seen: list[list[int]] = []
    while owner.tolist() not in seen:
        seen.append(owner.tolist())
        owner = PACKERS[name](size, owner, CAPACITY)
    # A fixed point, or (known of the P variants) a small cycle; never a walk without end.
    assert len(seen) <= 80
    assert len(seen) - seen.index(owner.tolist()) == 1 or name.endswith("p")


def test_an_opened_bin_is_the_old_owner_else_the_lowest_free_number() -> None:
    # Item 0 reopens its owner 5, item 1 finds 5 taken and gets 0, item 2 finds its owner 0 taken and gets 1.
    assert PACKERS["ff"](np.full(3, 60.0), np.array([5, 5, 0]), CAPACITY).tolist() == [5, 0, 1]


def test_big_partitions_stay_and_small_ones_move() -> None:
    # The fuller consumer 0 is opened first with all it has; 1's small one moves over, its big one stays.
    size, owner = np.array([80.0, 5.0, 70.0, 10.0]), np.array([0, 0, 1, 1])
    for name in MODIFIED:
        assert PACKERS[name](size, owner, CAPACITY).tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("name", PACKERS)
def test_nothing_to_pack(name: str) -> None:
    assert PACKERS[name](np.empty(0), np.empty(0, dtype=np.int64), CAPACITY).tolist() == []


@pytest.mark.parametrize("name", PACKERS)
@pytest.mark.parametrize(
    ("size", "owner", "capacity", "message"),
    [
        ([1.0, float("nan")], [-1, -1], 1.0, r"size\[1\] = nan"),
        ([-1.0], [-1], 1.0, r"size\[0\] = -1.0"),
        ([1.0], [-2], 1.0, r"owner\[0\] = -2"),
        ([1.0, 1.0], [0, 2**40], 1.0, r"owner\[1\] = 1099511627776"),
        ([1.0], [-1], 0.0, "capacity = 0.0"),
        ([1.0], [-1, 0], 1.0, "shape"),
    ],
)
def test_bad_input_is_named(name: str, size: list[float], owner: list[int], capacity: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PACKERS[name](np.array(size), np.array(owner), capacity)
