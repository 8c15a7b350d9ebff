"""The commands as a user runs them, one of them on separate executor processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from sluice.cli.main import main
from sluice.pipeline.latency.consumer import LatencySpec
from sluice.pipeline.latency.history import static_history
from sluice.pipeline.latency.write import write_latencies
from sluice.pipeline.traces.job import TraceSpec, make_trace
from sluice.pipeline.traces.place import ZipfKeys
from sluice.pipeline.traces.rate_csv import RateCsv
from sluice.simulate import FixedService


@pytest.mark.timeout(600)
def test_a_job_on_two_executor_processes_gives_what_local_mode_gives(spark: SparkSession, tmp_path: Path) -> None:
    rates, trace = tmp_path / "rates.csv", tmp_path / "trace"
    rates.write_text("".join(f"{100 + 10 * (i % 30)}\n" for i in range(120)))
    placement = ZipfKeys(keys=100, exponent=0.8)
    make_trace(spark, [str(rates)], str(trace), TraceSpec(reader=RateCsv(), partitions=4, placement=placement))
    words = [
        f"{trace}/events",
        f"--out={tmp_path}/cluster",
        "--consumers=3",
        "--service-s=0.012",
        "--bin-s=10",
        "--per-event",
        "--master=local-cluster[2,1,1024]",
        f"--json={tmp_path}/total.json",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "sluice", "pipeline", "latency", *words],
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    spec = LatencySpec(service=FixedService(mean_s=0.012), objective_s=0.5, bin_s=10.0)
    local = tmp_path / "local"
    total = write_latencies(spark, f"{trace}/events", static_history(4, 3), spec, str(local), per_event=True)
    # the mean is a sum of floats whose order follows the tasks' ends: equal but for the last digit
    assert json.loads((tmp_path / "total.json").read_text()) == pytest.approx(total, rel=1e-12, abs=0)
    for table in ("by_bin", "by_consumer", "events"):
        cluster = spark.read.parquet(str(tmp_path / "cluster" / table))
        assertDataFrameEqual(cluster, spark.read.parquet(str(local / table)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["traces", "x.csv", "--format=rats", "--partitions=2", "--out=o"], "rats"),
        (["traces", "x.csv", "--format=rates", "--partitions=0", "--out=o"], "partitions is 0; give at least 1"),
        (["traces", "x.csv", "--format=rates", "--partitions=2", "--out=o", "--hot=1", "--zipf-keys=5"], "choose one"),
        (["traces", "x.csv", "--format=rates", "--partitions=2", "--out=o", "--master=mars"], "master 'mars'"),
        (["latency", "nowhere", "--out=o"], "either --journal FILE or --consumers N"),
        (["latency", "nowhere", "--out=o", "--consumers=2"], "have no folders partition=N"),
        (["latency", "nowhere", "--out=o", "--journal=none.jsonl"], "none.jsonl cannot be read"),
        (["experiment", "no-such-scenario", "--out=o"], "no-such-scenario"),
        (["experiment", "workload-a", "--out=o", "--grid=f_up"], "is not KEY=VALUE"),
        (["forecast", "lake", "--out=o", "--horizon-s=25"], "horizon_s is 25, no multiple of step_s 10"),
    ],
)
def test_bad_input_is_one_clear_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["pipeline", *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_help_of_a_verb_loads_no_spark() -> None:
    script = (
        "import sys; from sluice.cli.main import main; code = main(['pipeline', 'traces', '--help']);"
        "sys.exit('Spark was imported' if 'pyspark' in sys.modules else code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--speed-up" in done.stdout
