"""One clear line for whatever Spark lacks."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from sluice.cli.main import main
from sluice.errors import InputError, UnavailableError
from sluice.pipeline.failures import plain_failures
from sluice.pipeline.session import SessionSpec, java_version, open_session, settings_of


def test_java_missing_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="Java 17 or newer is missing; install it or set JAVA_HOME") as caught:
        open_session()
    assert "\n" not in str(caught.value)


def test_java_too_old_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UnavailableError, match=r"needs Java 17 or newer.*11\.0\.2"):
        open_session()


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK', 17),
        ('java version "1.8.0_411"\nJava(TM)', 8),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ('openjdk version "24" 2025-03-18', 24),
        ("command not found", None),
        ("", None),
    ],
)
def test_java_version_of_what_java_says(said: str, version: int | None) -> None:
    assert java_version(said) == version


def test_an_unknown_master_is_refused() -> None:
    with pytest.raises(InputError, match="master 'lokal' is none that Spark knows"):
        open_session(SessionSpec(master="lokal"))


def test_spark_submit_chooses_the_master(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_of(SessionSpec())["spark.master"] == "local[*]"
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert "spark.master" not in settings_of(SessionSpec())


def test_a_connector_that_spark_submit_was_not_given_is_one_clear_line() -> None:
    said = "Failed to find data source: kafka. Please deploy the application as per the deployment section of …"
    with pytest.raises(UnavailableError, match="give spark-submit --jars") as caught, plain_failures("the stream"):
        raise AnalysisException(said)
    assert "\n" not in str(caught.value)


def test_the_jars_that_spark_submit_takes_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", "jars"]) == 0
    jars = [Path(jar) for jar in capsys.readouterr().out.strip().split(",")]
    assert any(jar.name.startswith("spark-sql-kafka") for jar in jars)
    assert all(jar.is_file() for jar in jars)


def test_memory_is_the_drivers_on_one_machine_and_the_executors_on_a_cluster() -> None:
    assert settings_of(SessionSpec(master="local[2]", memory="2g"))["spark.driver.memory"] == "2g"
    assert settings_of(SessionSpec(master="local-cluster[2,1,1024]", memory="2g"))["spark.executor.memory"] == "2g"


def test_the_session_means_utc(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
