"""Every kind of fault once, on a real broker; `make chaos` is the long run."""

from pathlib import Path
from random import Random

from tests.live.chaos import FAULTS, run_chaos


def test_nothing_is_lost_and_nobody_owns_a_partition_twice(tmp_path: Path) -> None:
    faults = sorted(set(FAULTS))
    Random(2).shuffle(faults)
    outcome = run_chaos(faults, 2, tmp_path)
    assert outcome.good, str(outcome)
    assert outcome.broken_off > 0, "no fault hit anybody who owned something"
