"""One Spark for all tests of the pipeline that run in this process."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from sluice.pipeline.connector import connector_jars
from sluice.pipeline.session import SessionSpec, open_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Two cores, little shuffling: the data of tests is small, starting is not."""
    quick = (
        # Compiling a query costs more than running it on a few rows. The tests of whole commands run as delivered.
        ("spark.sql.codegen.wholeStage", "false"),
        ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
        ("spark.sql.adaptive.enabled", "false"),
    )
    spec = SessionSpec(
        name="tests", master="local[2]", shuffle_partitions=2, memory="1g", jars=connector_jars(), options=quick
    )
    session = open_session(spec)
    yield session
    session.stop()
