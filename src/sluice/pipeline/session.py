"""The one place that makes a Spark session."""

import importlib.util
import logging
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sluice.broker.java import java_command
from sluice.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"
JAVA_OLDEST = 17
_LOGGING = Path(__file__).with_name("log4j2.properties")
_SCHEMES = ("local", "spark://", "k8s://", "yarn")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """How Spark is to run; everything else about it is the same everywhere."""

    name: str = "sluice"
    master: str | None = None
    """None: what spark-submit chose, else this machine's cores."""
    shuffle_partitions: int | None = None
    memory: str | None = None
    """Heap of the driver on one machine, of each executor on a cluster (Spark's notation: 2g)."""
    jars: tuple[Path, ...] = ()
    options: tuple[tuple[str, str], ...] = ()


def open_session(spec: SessionSpec | None = None) -> "SparkSession":
    """A session, or one clear line saying what Spark lacks. A session that runs already is used again."""
    spec = spec or SessionSpec()
    _check_master(spec.master)
    _check_java()
    _show_spark_our_python()
    if (spec.master or DEFAULT_MASTER).startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise UnavailableError("PySpark is missing; install sluice[spark]") from None
    builder = SparkSession.builder.appName(spec.name)
    for key, value in settings_of(spec).items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise UnavailableError(
            f"Spark did not start at {spec.master or DEFAULT_MASTER}: {_first_line(error)}"
        ) from None
    session.sparkContext.setLogLevel("ERROR")
    # What fails is raised; PySpark would write every failure to the terminal as well, at length.
    logging.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL)
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return session


def settings_of(spec: SessionSpec) -> dict[str, str]:
    """Spark's own settings for the spec."""
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    master = spec.master or (None if submitted else DEFAULT_MASTER)
    made = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Timestamps mean the same wherever the job runs.
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Big batches: a compiled kernel is called once a batch, so its overhead must vanish.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",
        # Its cost grows exponentially with columns derived from columns, and a batch of telemetry has many of them.
        "spark.sql.constraintPropagation.enabled": "false",
        # A malformed record must become NULL and then a counted quarantine row, not the end of the job.
        "spark.sql.ansi.enabled": "false",
    }
    if master is not None:
        made["spark.master"] = master
        if master.startswith("local"):
            # Executors of local masters reach the driver on this machine, whatever its host name resolves to.
            made["spark.driver.host"] = made["spark.driver.bindAddress"] = "127.0.0.1"
            made["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"
    if spec.shuffle_partitions is not None:
        made["spark.sql.shuffle.partitions"] = str(spec.shuffle_partitions)
    if spec.memory is not None:
        made["spark.driver.memory" if _in_one_process(master) else "spark.executor.memory"] = spec.memory
    if spec.jars:
        made["spark.jars"] = ",".join(str(jar) for jar in spec.jars)
    return made | dict(spec.options)


def _in_one_process(master: str | None) -> bool:
    return master is not None and (master == "local" or master.startswith("local["))


def _check_master(master: str | None) -> None:
    if master is not None and not master.startswith(_SCHEMES):
        raise InputError(
            f"master {master!r} is none that Spark knows; give local[N], local-cluster[N,CORES,MB], spark://HOST:PORT, "
            "k8s://… or yarn"
        )


def _check_java() -> None:
    java = java_command()
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = java_version(said)
    if version is None or version < JAVA_OLDEST:
        shown = said.splitlines()[0] if said else "nothing"
        raise UnavailableError(
            f"Spark needs Java {JAVA_OLDEST} or newer, {java} says {shown}; install it or set JAVA_HOME"
        )


def java_version(said: str) -> int | None:
    """The major version in the first line of `java -version`; None when it says none."""
    _, quote, rest = said.partition('"')
    first, _, tail = rest.partition(".")
    number = tail.partition(".")[0] if first == "1" else first.partition("-")[0].partition('"')[0]
    return int(number) if quote and number.isdigit() else None


def _show_spark_our_python() -> None:
    """Executor processes find this interpreter and this PySpark, not another one on the path."""
    found = importlib.util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise UnavailableError("PySpark is missing; install sluice[spark]")
    os.environ.setdefault("SPARK_HOME", found.submodule_search_locations[0])
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
