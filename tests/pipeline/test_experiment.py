"""A grid over executors: the rows are those of single runs, and what is finished is not run again."""

from dataclasses import asdict
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sluice.errors import InputError
from sluice.lab.compare import compare
from sluice.lab.experiment import least_cost, run
from sluice.lab.library import find_scenario
from sluice.pipeline.experiment.engine import SparkEngine
from sluice.pipeline.experiment.grid import cells_of
from sluice.pipeline.experiment.job import parts_of, run_experiment
from sluice.pipeline.experiment.store import finished
from sluice.settings.scenario import Scenario


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    """The first minute of workload A."""
    return find_scenario("workload-a").model_copy(update={"duration_s": 60.0})


def test_a_grid_has_every_combination_once(scenario: Scenario) -> None:
    cells = cells_of([scenario], ["binpack", "hold"], {"f_up": [0.8, 0.9, 0.9], "f_down": [0.3, 0.4]}, seeds=2)
    assert len(cells) == 2 * (2 * 2 + 1)
    assert len({cell.name for cell in cells}) == len(cells)
    # A policy without the parameters is there once for each seed.
    assert [cell.parameters for cell in cells if cell.policy == "hold"] == [(), ()]
    again = cells_of([scenario], ["binpack"], {"f_down": [0.4], "f_up": [0.9]}, seeds=1)
    assert again[0].name in {cell.name for cell in cells}


@pytest.mark.parametrize(
    ("policies", "parameters", "said"),
    [
        (["binpak"], {}, "binpak"),
        (["binpack"], {"f_upp": [0.9]}, "parameter 'f_upp' belongs to none of the policies"),
        (["binpack"], {"f_up": [7.0]}, "f_up"),
    ],
)
def test_a_wrong_grid_is_one_clear_line(
    scenario: Scenario, policies: list[str], parameters: dict[str, list[float]], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        cells_of([scenario], policies, parameters)


def test_cells_share_a_task_unless_cores_would_be_idle(scenario: Scenario) -> None:
    cells = cells_of([scenario], ["binpack"], {"f_up": [0.7, 0.8, 0.9, 0.95]}, seeds=3)
    assert [len(part) for part in parts_of(cells, 2)] == [4, 4, 4]
    assert [len(part) for part in parts_of(cells, 6)] == [2, 2, 2, 2, 2, 2]
    assert [len(part) for part in parts_of(cells, 100)] == [1] * 12
    for part in parts_of(cells, 2):
        assert len({cell.seed for cell in part}) == 1


def test_rows_are_those_of_single_runs_and_finished_cells_are_kept(
    spark: SparkSession, scenario: Scenario, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    cells = cells_of([scenario], ["binpack"], {"f_up": [0.8, 0.9]}, seeds=1)
    heard: list[int] = []
    table = run_experiment(spark, cells, str(out), on_done=heard.append)
    rows = {row.f_up: row.asDict() for row in table.collect()}
    bound = least_cost(scenario, 0)
    for cell in cells:
        alone = asdict(run(cell.scenario, "binpack", 0, bound=bound).row)
        found = rows[dict(cell.parameters)["f_up"]]
        assert {name: found[name] for name in alone} == alone
    assert heard[-1] == 2

    # Broken off after one cell: only the missing one is run again.
    first, second = (out / "cells" / f"{cell.name}.json" for cell in cells)
    before = second.stat().st_mtime_ns
    first.unlink()
    again = run_experiment(spark, cells, str(out))
    assert again.count() == 2
    assert second.stat().st_mtime_ns == before
    assert finished(str(out)) == {cell.name for cell in cells}


def test_a_comparison_on_spark_is_the_comparison(spark: SparkSession, scenario: Scenario) -> None:
    local = compare([scenario], ["hold", "binpack"], seeds=2)
    on_spark = compare([scenario], ["hold", "binpack"], seeds=2, each=SparkEngine(spark))
    assert on_spark[0].rows == local[0].rows
    assert [b and b.replica_minutes for b in on_spark[0].bounds] == [b and b.replica_minutes for b in local[0].bounds]
