"""Every kind of arrivals, choice, size, service and protocol a scenario can name becomes the world it describes."""

from pathlib import Path

import numpy as np
import pytest

from sluice.assembly.world import build_world
from sluice.lab import experiment
from sluice.lab.experiment import expected_events, least_cost, run
from sluice.settings.scenario import Scenario, read_scenario
from sluice.simulate.world import arrivals_of

BASE = """
name = "kinds"
duration_s = 60
objective = {{ latency_s = 0.5 }}
topic = {{ partitions = 4, {topic} }}
group = {{ initial_consumers = 2, {group} }}
"""
EVEN = 'arrivals = { kind = "even" }, rate = { kind = "constant", eps = 100 }'
FIXED = 'service = { kind = "fixed", mean_s = 0.004 }'


def made(folder: Path, topic: str = EVEN, group: str = FIXED) -> Scenario:
    path = folder / "kinds.toml"
    path.write_text(BASE.format(topic=topic, group=group), encoding="utf-8")
    (folder / "events.csv").write_text(
        "time_s,partition,size_bytes\n" + "".join(f"{i / 10},{i % 4},50\n" for i in range(500))
    )
    scenario = read_scenario(path)
    arrivals = scenario.topic[0].arrivals
    if arrivals.kind == "recorded":
        there = arrivals.model_copy(update={"file": str(folder / "events.csv")})
        return scenario.model_copy(update={"topic": (scenario.topic[0].model_copy(update={"arrivals": there}),)})
    return scenario


@pytest.mark.parametrize(
    ("arrivals", "events", "tolerance"),
    [
        ('arrivals = { kind = "even" }, rate = { kind = "constant", eps = 100 }', 6000, 0),
        ('arrivals = { kind = "burst" }, rate = { kind = "constant", eps = 100 }', 6000, 0),
        ('arrivals = { kind = "poisson" }, rate = { kind = "constant", eps = 100 }', 6000, 320),
        ('arrivals = { kind = "mmpp", states_eps = [50, 150], mean_dwell_s = [1, 1] }', 6000, 2200),
        ('arrivals = { kind = "recorded", file = "events.csv" }', 500, 0),
    ],
)
def test_arrivals(tmp_path: Path, arrivals: str, events: int, tolerance: int) -> None:
    scenario = made(tmp_path, arrivals)
    outcome = run(scenario, "hold", 0, bound=least_cost(scenario, 0))
    assert outcome.row.events == pytest.approx(events, abs=tolerance)
    assert outcome.row.clairvoyant_minutes == pytest.approx(1.0, abs=0.5)


@pytest.mark.parametrize(
    ("service", "mean_s", "cv"),
    [
        ('service = { kind = "fixed", mean_s = 0.004 }', 0.004, 0.0),
        ('service = { kind = "exponential", mean_s = 0.004 }', 0.004, 1.0),
        ('service = { kind = "lognormal", mean_s = 0.004, cv = 0.5 }', 0.004, 0.5),
        ('service = { kind = "per-byte", s_per_byte = 3e-5, base_s = 0.001 }', 0.004, 0.375),
    ],
)
def test_service_and_sizes(tmp_path: Path, service: str, mean_s: float, cv: float) -> None:
    sized = EVEN + ', size = { kind = "lognormal", mean_bytes = 100, cv = 0.5 }'
    spec = build_world(made(tmp_path, sized, service), seed=0)
    assert spec.groups[0].service.mean_s == pytest.approx(mean_s)
    arriving = arrivals_of(spec, "group", 0)
    drawn = np.broadcast_to(arriving.service_s, arriving.time_s.shape)
    assert drawn.mean() == pytest.approx(mean_s, rel=0.05)
    assert drawn.std() / drawn.mean() == pytest.approx(cv, abs=0.06)
    assert arriving.size_bytes.mean() == pytest.approx(100, rel=0.05)


def test_keys_make_partitions_unequal(tmp_path: Path) -> None:
    keyed = EVEN + ', choice = { kind = "zipf", keys = 20, exponent = 1.5 }'
    shares = np.bincount(arrivals_of(build_world(made(tmp_path, keyed), 0), "group", 0).partition, minlength=4)
    assert shares.max() > 2 * np.median(shares)


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "handover"])
def test_protocols_and_start_up(tmp_path: Path, protocol: str) -> None:
    busy = 'arrivals = { kind = "even" }, rate = { kind = "knots", points = [[0, 50], [30, 600], [60, 50]] }'
    slow = f'protocol = "{protocol}", rebalance_s = 0.3, startup_s = [1, 2], {FIXED}'
    spec = build_world(made(tmp_path, busy, slow), 0)
    assert (spec.groups[0].protocol, spec.groups[0].startup_s) == (protocol, (1.0, 2.0))
    row = run(made(tmp_path, busy, slow), "binpack", 0, bound=None).row
    assert row.up > 0
    assert row.moved_partitions > 0


def test_huge_runs_keep_a_histogram_and_go_without_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = made(tmp_path, group='service = { kind = "exponential", mean_s = 0.004 }')
    assert expected_events(scenario) == 6000
    exact = run(scenario, "hold", 0, bound=None)
    monkeypatch.setattr(experiment, "LARGE_EVENTS", 5000)
    assert least_cost(scenario, 0) is None
    counted = run(scenario, "hold", 0, bound=None)
    assert counted.row.events == exact.row.events
    assert counted.row.p99_s == pytest.approx(exact.row.p99_s, rel=0.03)
    assert counted.row.p99_s != exact.row.p99_s
