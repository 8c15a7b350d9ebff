"""Comparisons: the rows' fields, determinism whatever the order and the processes, means, several groups."""

import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from sluice.assembly.world import build_world
from sluice.lab.compare import compare, runs
from sluice.lab.experiment import least_cost, run
from sluice.lab.library import find_scenario
from sluice.lab.row import Row, means
from sluice.settings.scenario import Scenario, read_scenario

FIELDS = (
    "scenario policy seed events sla_ratio p50_s p99_s max_s replica_minutes clairvoyant_minutes cost_ratio "
    "up down reassign moved_partitions rscore_mean"
)
BURSTS = """
name = "{name}"
duration_s = 40
seeds = 2
policies = ["binpack", "linear"]
objective = {{ latency_s = 0.5 }}

[topic]
partitions = 4
arrivals = {{ kind = "burst", period_s = 1.003 }}
rate = {{ kind = "knots", points = [[0, 20], [20, 260], [40, 20]] }}

[group]
service = {{ kind = "exponential", mean_s = 0.005 }}
"""


def bursts(folder: Path, name: str = "bursts") -> Scenario:
    path = folder / f"{name}.toml"
    path.write_text(BURSTS.format(name=name), encoding="utf-8")
    return read_scenario(path)


def test_a_row_has_exactly_the_promised_fields() -> None:
    assert [f.name for f in fields(Row)] == FIELDS.split()


def test_order_and_processes_change_nothing(tmp_path: Path) -> None:
    one, two = bursts(tmp_path, "one"), bursts(tmp_path, "two")
    heard: list[int] = []
    (a, b) = compare([one, two], on_done=heard.append)
    (c, d) = compare([two, one], jobs=2)
    assert a.rows == d.rows
    assert b.rows == c.rows
    assert heard == [2, 4, 6, 8]
    assert runs([one, two]) == 8
    assert [(row.policy, row.seed) for row in a.rows] == [("binpack", 0), ("binpack", 1), ("linear", 0), ("linear", 1)]
    (other_order,) = compare([one], ["linear", "binpack"])
    assert other_order.rows == (*a.rows[2:], *a.rows[:2])


def test_a_row_agrees_with_its_curves(tmp_path: Path) -> None:
    scenario = bursts(tmp_path)
    bound = least_cost(scenario, 1)
    assert bound is not None
    found = run(scenario, "binpack", 1, bound=bound)
    row, curves = found.row, found.curves
    assert row.replica_minutes == pytest.approx(float(curves.consumers.sum()) / 60)
    assert row.clairvoyant_minutes == pytest.approx(bound.replica_minutes)
    assert row.cost_ratio == pytest.approx(row.replica_minutes / bound.replica_minutes)
    assert len(curves.actions) == row.up + row.down + row.reassign
    assert row.max_s == curves.cdf_s[-1] or row.max_s >= curves.cdf_s.max()
    at_p50 = float(np.interp(0.5, curves.cdf_ratio, curves.cdf_s))
    assert at_p50 == pytest.approx(row.p50_s, rel=0.05)


def test_a_histogram_says_the_same_as_every_latency(tmp_path: Path) -> None:
    scenario = bursts(tmp_path)
    exact = run(scenario, "binpack", 0, bound=None).row
    counted = run(scenario, "binpack", 0, bound=None, exact=False).row
    assert counted.events == exact.events
    assert counted.sla_ratio == pytest.approx(exact.sla_ratio, abs=1e-9)
    assert counted.p99_s == pytest.approx(exact.p99_s, rel=0.03)


def test_means_average_over_seeds_and_keep_the_range(tmp_path: Path) -> None:
    (part,) = compare([bursts(tmp_path)], ["binpack"])
    (mean,) = means(part.rows)
    ratios = [row.sla_ratio for row in part.rows]
    assert mean.seeds == 2
    assert mean.sla_ratio == pytest.approx(sum(ratios) / 2)
    assert (mean.sla_least, mean.sla_most) == (min(ratios), max(ratios))
    assert mean.replica_minutes == pytest.approx(sum(row.replica_minutes for row in part.rows) / 2)


def test_a_finer_step_costs_a_clairvoyant_less_or_the_same() -> None:
    scenario = find_scenario("workload-a")
    fine, coarse = least_cost(scenario, 0, 1.0), least_cost(scenario, 0, 10.0)
    assert fine is not None
    assert coarse is not None
    assert fine.replica_minutes < coarse.replica_minutes


def test_single_queue_is_mm1() -> None:
    row = run(find_scenario("single-queue"), "hold", 0, bound=None).row
    # Sojourn in M/M/1 is exponential with rate 200 - 160.
    assert row.p50_s == pytest.approx(math.log(2) / 40, rel=0.1)
    assert row.p99_s == pytest.approx(math.log(100) / 40, rel=0.15)
    assert row.sla_ratio == pytest.approx(1 - math.exp(-40 * 0.115), abs=0.006)


def test_two_stages_are_one_scenario(tmp_path: Path) -> None:
    text = (
        BURSTS.format(name="stages").replace("[group]", '[[group]]\nname = "first"\ntopics = ["events"]\n')
        + 'output = { name = "between", partitions = 4 }\n'
        + '[[group]]\nname = "second"\ntopics = ["between"]\nservice = { kind = "fixed", mean_s = 0.001 }\n'
    )
    path = tmp_path / "stages.toml"
    path.write_text(text, encoding="utf-8")
    scenario = read_scenario(path)
    assert least_cost(scenario, 0) is None
    both = run(scenario, "binpack", 0, bound=None)
    alone = run(bursts(tmp_path), "binpack", 0, bound=None)
    assert both.row.events == alone.row.events
    assert both.row.p50_s > alone.row.p50_s
    assert both.row.clairvoyant_minutes is None
    assert both.curves.consumers.min() >= 2


def test_the_world_is_the_one_the_scenario_describes() -> None:
    spec = build_world(find_scenario("workload-a-skewed"), seed=0)
    (source,) = spec.sources
    assert source.partitions == 9
    dealt = np.bincount(source.choice.chooser(9, np.random.default_rng(0)).next(28_000), minlength=9)
    assert dealt[:2].sum() == pytest.approx(14_000, abs=30)
    assert dealt[2:] == pytest.approx(np.full(7, 2_000), abs=15)
