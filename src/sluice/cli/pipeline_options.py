"""What the verbs of `sluice pipeline` share: options, and a session that is stopped at the end."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Master = Annotated[
    str | None,
    typer.Option(help="Where Spark runs: local[N], local-cluster[N,CORES,MB], spark://…, k8s://…, yarn.  [local[*]]"),
]
Memory = Annotated[str | None, typer.Option(help="Spark's heap, for example 2g.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the result to this file.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]


@contextmanager
def spark(name: str, master: str | None, memory: str | None = None, *, kafka: bool = False) -> Iterator["SparkSession"]:
    """A session for one command; `kafka` for one that reads Kafka."""
    from sluice.pipeline.connector import connector_jars
    from sluice.pipeline.session import SessionSpec, open_session

    jars = connector_jars() if kafka else ()
    session = open_session(SessionSpec(name=f"sluice {name}", master=master, memory=memory, jars=jars))
    try:
        yield session
    finally:
        session.stop()
