"""The packing paper: its worked example, and every claim of its latency run on the published measurements."""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sluice.errors import InputError
from sluice.lab.reproduce.packing import PAPER, owners_of, recorded_sizes
from sluice.lab.reproduce.packing_claims import RECORDED
from sluice.lab.reproduce.paper import Setting, reproduce
from sluice.lab.reproduce.runner import Runner
from sluice.theory.handover_latency import latency_samples, queue_latency_s
from sluice.theory.packing import rscore, size_stream

DATA = Path(__file__).parents[3] / "shared" / "data"


def test_two_partitions_too_many_fall_behind_byte_by_byte() -> None:
    # A consumer that reads 10 B/s owns two partitions of 8 B/s.
    found = latency_samples(np.array([[8.0, 8.0]]), [np.array([0, 0])], read_bps=10.0, iteration_s=30.0, pause_s=5.0)
    assert len(found) == 480
    assert np.diff(found) == pytest.approx(np.full(479, 0.1 - 0.0625))


def test_what_is_late_at_the_end_is_late_at_the_start_of_the_next_iteration() -> None:
    sizes, owners = np.array([[8.0, 8.0], [8.0, 0.0]]), [np.array([0, 0])] * 2
    found = latency_samples(sizes, owners, read_bps=10.0, iteration_s=30.0, pause_s=5.0)
    last = found[479]
    assert last == pytest.approx(480 * (0.1 - 0.0625))
    assert found[480] == pytest.approx(last + 0.1 - 0.125)
    assert found[-1] == pytest.approx(last + 240 * (0.1 - 0.125))


def test_a_moved_partition_waits_for_the_pause_and_gets_what_the_kept_ones_leave() -> None:
    sizes = np.array([[4.0, 6.0], [4.0, 6.0]])
    owners = [np.array([0, 1]), np.array([0, 0])]
    found = latency_samples(sizes, owners, read_bps=20.0, iteration_s=10.0, pause_s=5.0)
    moved = found[-60:]
    assert moved[0] == pytest.approx(5.0 + 1 / 16 - 1 / 6)
    assert moved[-1] == pytest.approx(max(0.0, 5.0 + 60 * (1 / 16 - 1 / 6)))
    assert found[:-60].max() == 0.0


def test_queues_without_writing_or_without_reading() -> None:
    assert len(queue_latency_s(0.0, 10.0, 5.0, 30.0)) == 0
    unread = queue_latency_s(2.0, 0.0, 5.0, 30.0)
    assert unread[0] == pytest.approx(34.5)
    assert unread[-1] == pytest.approx(5.0)


def test_every_claim_holds_even_on_one_stream() -> None:
    if not (DATA / RECORDED).is_file():
        pytest.skip(f"{RECORDED} is not in ../shared/data")
    with Runner(1) as runner:
        done = reproduce(PAPER, Setting(data=DATA, runner=runner, seeds=1))
    assert {v.claim for v in done.verdicts if not v.holds} == set()
    assert done.findings.sources[1].endswith("recorded")
    titles = [figure.title for figure in done.findings.figures]
    assert titles == [
        *(f"Pareto front at delta {delta}" for delta in (5, 10, 15, 20, 25)),
        "Rscore against delta",
        "CBS against delta",
        "Operational cost",
        "Samples above zero",
        "Latency of what waited",
        "Latency, distribution",
    ]


@pytest.mark.parametrize("name", ["nf", "nfd", "bfd", "mwf"])
@pytest.mark.parametrize("delta", [5, 15])
def test_rscores_are_those_of_the_authors_own_results(name: str, delta: int) -> None:
    path = DATA / "landau_streams_reference.csv"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in ../shared/data")
    with path.open(encoding="utf-8") as rows:
        published = {(row["delta"], row["algorithm"]): float(row["mean_rscore"]) for row in csv.DictReader(rows)}
    sizes = size_stream(partitions=200, steps=501, delta=delta, seed=0, whole=True)
    owners = owners_of(name, sizes, np.random.default_rng(0))
    found = np.mean([rscore(size, a, b, 100.0) for size, (a, b) in zip(sizes[1:], pairwise(owners), strict=True)])
    assert found == pytest.approx(published[str(delta), name], rel=0.07)


def test_without_the_measurements_a_drawn_stream_stands_in(tmp_path: Path) -> None:
    sizes, source = recorded_sizes(tmp_path)
    assert sizes.shape == (100, 32)
    assert "stands in" in source
    (tmp_path / RECORDED).write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(InputError, match=RECORDED):
        recorded_sizes(tmp_path)
