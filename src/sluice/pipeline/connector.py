"""Spark's Kafka connector: its jars, fetched once into the cache."""

from pathlib import Path

from sluice.broker.cache import cache_folder, resolve
from sluice.errors import UnavailableError

_SCALA = "2.13"
_KAFKA_CLIENTS = "3.9.2"
_COMMONS_POOL = "2.13.1"
_OLDER_TOKEN_PROVIDER = "4.0.0"
"""Published where the one of Spark's own version is missing; it works with the newer connector."""


def connector_jars() -> tuple[Path, ...]:
    """What `spark.jars` must name for a session that reads or writes Kafka."""
    from pyspark import __version__ as spark

    # What was fetched before is used as it is: asking again for a version that is missing takes seconds.
    older = (cache_folder() / _folder(spark, _OLDER_TOKEN_PROVIDER)).is_dir()
    try:
        return _resolved(spark, token_provider=_OLDER_TOKEN_PROVIDER if older else spark)
    except UnavailableError:
        return _resolved(spark, token_provider=_OLDER_TOKEN_PROVIDER)


def _folder(spark: str, token_provider: str) -> str:
    return f"spark-kafka-{spark}-{token_provider}"


def _resolved(spark: str, *, token_provider: str) -> tuple[Path, ...]:
    coordinates = [
        f"org.apache.spark:spark-sql-kafka-0-10_{_SCALA}:{spark}",
        f"org.apache.spark:spark-token-provider-kafka-0-10_{_SCALA}:{token_provider}",
        f"org.apache.kafka:kafka-clients:{_KAFKA_CLIENTS}",
        f"org.apache.commons:commons-pool2:{_COMMONS_POOL}",
    ]
    # Named jars only: what they depend on further is part of Spark already.
    return resolve(coordinates, _folder(spark, token_provider), transitive=False)
