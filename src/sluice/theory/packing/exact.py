"""The fewest bins, proven, for small cases: a mixed-integer program solved by HiGHS.

minimise   sum_b used_b  +  w * sum_i size_i / C * [i leaves its owner]
so that    every item is in one bin, and in each dimension every bin holds at most its capacity
"""

from typing import Any, NamedTuple

import numpy as np

from sluice.errors import InputError
from sluice.theory.arrays import BoolArray, FloatArray, IntArray
from sluice.theory.packing.base import check_capacity, own_floats, refuse
from sluice.theory.packing.bounds import lower_bound

NOBODY = -1
# The solver keeps a capacity to about 1e-6 of it; what is over by more than this is cut off and solved again.
OVER = 1e-9


class _Case(NamedTuple):
    share: FloatArray  # (items, dimensions), in units of the capacity
    alone: BoolArray  # over a capacity
    owner: IntArray
    weight: float
    time_limit_s: float


def exact_packing(
    size: Any,
    capacity: Any,
    *,
    owner: Any = None,
    migration_weight: float = 0.0,
    time_limit_s: float = np.inf,
) -> IntArray:
    """The bin of each item in a packing with the fewest bins; `size` is (n,) or (n, d), `capacity` one number or d.

    With `owner` (the bin of each item now, -1 for none) the bins keep their numbers, and the migrated share of a
    bin (Rscore, by the largest dimension) costs `migration_weight` bins. An item over a capacity sits alone.
    """
    case = _read(size, capacity, owner, migration_weight, time_limit_s)
    if not len(case.share):
        return np.empty(0, dtype=np.int64)
    if migration_weight > 0.0:
        return _solve_with_owners(case)
    greedy = _first_fit_decreasing(case)
    if int(greedy.max()) + 1 > lower_bound(np.where(case.alone[:, None], 2.0, case.share), 1.0):
        greedy = _solve(case, int(greedy.max()) + 1)
    return _named(greedy, case)


def _read(size: Any, capacity: Any, owner: Any, weight: float, time_limit_s: float) -> _Case:
    sizes = own_floats(size)
    sizes = sizes[:, None] if sizes.ndim == 1 else sizes
    if sizes.ndim != 2:
        raise InputError(f"size has shape {sizes.shape}; give one row an item")
    capacities = np.broadcast_to(own_floats(capacity), sizes.shape[1:])
    for number in capacities.tolist():
        check_capacity("capacity", number)
    if not bool(np.all((sizes >= 0.0) & (sizes < np.inf))):
        refuse("size", sizes.ravel())
    if not 0.0 <= weight < np.inf:
        raise InputError(f"migration_weight = {weight}; give a number of at least 0")
    owners = np.full(len(sizes), NOBODY) if owner is None else np.array(owner, dtype=np.int64)
    if owners.shape != sizes.shape[:1]:
        raise InputError(f"size has {len(sizes)} items but owner has shape {owners.shape}; give one owner an item")
    share = sizes / capacities
    alone = np.any(sizes > capacities, axis=1)
    return _Case(np.minimum(share, 1.0), alone, owners, weight, time_limit_s)


def _first_fit_decreasing(case: _Case) -> IntArray:
    """A packing to start from: the biggest (by its largest dimension) first, each to the first bin that takes it."""
    bins = np.empty(len(case.share), dtype=np.int64)
    load: list[FloatArray] = []
    for i in np.argsort(-case.share.max(axis=1) - case.alone, kind="stable").tolist():
        full = np.full(case.share.shape[1], np.inf) if case.alone[i] else case.share[i]
        b = next((b for b, there in enumerate(load) if np.all(there + full <= 1.0)), len(load))
        if b == len(load):
            load.append(np.zeros(case.share.shape[1]))
        load[b] = load[b] + full
        bins[i] = b
    return bins


def _solve(case: _Case, enough: int) -> IntArray:
    """The fewest of `enough` bins that are all alike."""
    n = len(case.share)
    order = np.argsort(-case.share.max(axis=1), kind="stable")
    # Bins alike: the p-th biggest item is in one of the first p bins, and bins are used in their order.
    allowed = np.ones((n, enough), dtype=np.bool_)
    allowed[order] = np.arange(enough)[None, :] <= np.arange(n)[:, None]
    return _minimise(case, np.zeros((n, enough)), allowed, alike_from=0)


def _solve_with_owners(case: _Case) -> IntArray:
    """Bins are the owners there are, and fresh ones with the lowest free numbers."""
    n = len(case.share)
    now = np.unique(case.owner[case.owner >= 0])
    free = np.setdiff1d(np.arange(n + len(now)), now)[:n]
    numbers = np.concatenate([now, free])
    stays = case.owner[:, None] == numbers[None, :]
    moved = np.where((case.owner[:, None] >= 0) & ~stays, case.share.max(axis=1)[:, None], 0.0)
    return numbers[
        _minimise(case, case.weight * moved, np.ones((n, len(numbers)), dtype=np.bool_), alike_from=len(now))
    ]


def _minimise(case: _Case, move_cost: FloatArray, allowed: BoolArray, *, alike_from: int) -> IntArray:
    """Solve, and cut off what the solver's tolerance let through, until the bins really hold what is in them."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    n, bins = allowed.shape
    matrix, lower, upper = _rows(case, bins, alike_from)
    variables = Bounds(np.zeros(n * bins + bins), np.concatenate([allowed.ravel(), np.ones(bins)]))
    cost = np.concatenate([move_cost.ravel(), np.ones(bins)])
    while True:
        found = milp(
            cost,
            integrality=np.ones(len(cost), dtype=np.int64),
            bounds=variables,
            constraints=LinearConstraint(matrix, lower, upper),
            options={"mip_rel_gap": 0.0, "time_limit": case.time_limit_s},
        )
        if found.status == 1:
            raise InputError(
                f"exact packing of {n} items did not end within {case.time_limit_s} s; allow more time or take fewer"
            )
        if found.x is None:
            raise InputError(f"exact packing of {n} items failed: {found.message}")
        packed: IntArray = np.argmax(found.x[: n * bins].reshape(n, bins), axis=1).astype(np.int64)
        over = [b for b in range(bins) if np.any(case.share[packed == b].sum(axis=0) > 1.0 + OVER)]
        if not over:
            return packed
        # These items do not fit together in any bin.
        for b in over:
            together = packed == b
            cut = np.zeros((bins, n * bins + bins))
            for other in range(bins):
                cut[other, : n * bins].reshape(n, bins)[together, other] = 1.0
            matrix = vstack([matrix, csr_array(cut)], format="csr")
            lower = np.concatenate([lower, np.zeros(bins)])
            upper = np.concatenate([upper, np.full(bins, together.sum() - 1.0)])


def _rows(case: _Case, bins: int, alike_from: int) -> tuple[Any, FloatArray, FloatArray]:
    """The constraints over x (item by item, each over all bins) and then `used`, as matrix and bounds."""
    from scipy.sparse import coo_array, csr_array, hstack, identity, kron, vstack

    n = len(case.share)
    ones = np.ones((1, n))
    each_bin = identity(bins, format="csr")
    placed = hstack([kron(identity(n), np.ones((1, bins))), csr_array((n, bins))])
    held = [hstack([kron(case.share[:, [d]].T, each_bin), -each_bin]) for d in range(case.share.shape[1])]
    linked = hstack([identity(n * bins), -kron(np.ones((n, 1)), each_bin)])
    blocks = [placed, *held, linked]
    lower = [np.ones(n), np.full(bins * len(held) + n * bins, -np.inf)]
    upper = [np.ones(n), np.zeros(bins * len(held) + n * bins)]
    for i in np.flatnonzero(case.alone).tolist():
        # n * x[i, b] + everything else in b <= n
        crowd = ones.copy()
        crowd[0, i] = n
        blocks.append(hstack([kron(crowd, each_bin), csr_array((bins, bins))]))
        lower.append(np.full(bins, -np.inf))
        upper.append(np.full(bins, float(n)))
    alike = np.arange(alike_from, bins - 1)
    if len(alike):
        row, column = np.arange(len(alike)), n * bins + alike
        sides = (np.concatenate([row, row]), np.concatenate([column, column + 1]))
        signs = np.concatenate([-np.ones(len(alike)), np.ones(len(alike))])
        blocks.append(coo_array((signs, sides), shape=(len(alike), n * bins + bins)))
        lower.append(np.full(len(alike), -np.inf))
        upper.append(np.zeros(len(alike)))
    return vstack(blocks, format="csr"), np.concatenate(lower), np.concatenate(upper)


def _named(bins: IntArray, case: _Case) -> IntArray:
    """Give bins the numbers of the owners so that the most load stays; fresh ones get the lowest free numbers."""
    from scipy.optimize import linear_sum_assignment

    _, bins = np.unique(bins, return_inverse=True)
    count = int(bins.max()) + 1
    now = np.unique(case.owner[case.owner >= 0])
    worth = case.share.max(axis=1) + 1e-9  # an idle item stays too, if it can
    overlap = np.array([[worth[(bins == b) & (case.owner == c)].sum() for c in now] for b in range(count)])
    number = np.full(count, NOBODY)
    if len(now):
        kept, old = linear_sum_assignment(overlap, maximize=True)
        number[kept] = now[old]
    fresh = np.setdiff1d(np.arange(count + len(now)), number)
    number[number == NOBODY] = fresh[: int((number == NOBODY).sum())]
    return number[bins]
