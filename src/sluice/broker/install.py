"""The class path of a Kafka installation: the user's own (KAFKA_HOME) or the released jars from the cache."""

import os
from pathlib import Path

from sluice.broker.cache import cache_folder, resolve
from sluice.broker.java import pyspark_jars
from sluice.errors import InputError

KAFKA_VERSION = "4.3.1"
FOLDER = f"kafka-{KAFKA_VERSION}"


def is_there() -> bool:
    """Nothing has to be fetched."""
    return bool(os.environ.get("KAFKA_HOME")) or (cache_folder() / FOLDER).is_dir()


def kafka_class_path() -> str:
    """Everything the broker needs, joined for `java -cp`; fetched once when KAFKA_HOME is not set."""
    home = os.environ.get("KAFKA_HOME")
    if home:
        libs = Path(home, "libs")
        if not any(libs.glob("kafka_*.jar")):
            raise InputError(f"KAFKA_HOME is {home!r}, but {libs} holds no Kafka; correct it or unset it")
        return str(libs / "*")
    jars = resolve(f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}", FOLDER)
    # The released set names slf4j 1.7 without a backend; PySpark's slf4j 2 comes with one for the same log4j.
    logging = pyspark_jars("slf4j-api-2.*.jar", "log4j-slf4j2-impl-2.*.jar")
    return os.pathsep.join(str(jar) for jar in (*logging, *jars) if not jar.name.startswith("slf4j-api-1."))
