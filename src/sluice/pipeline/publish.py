"""Output that is there whole or not at all: written under another name, then renamed."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyarrow.fs import FileSystem, FileType

from sluice.errors import InputError


def file_system(path: str) -> tuple[FileSystem, str]:
    """Arrow's file system for a path or URI (local, hdfs://, s3://, gs://), and the path inside it."""
    try:
        system, inner = FileSystem.from_uri(absolute(path))
    except (OSError, ValueError) as error:
        raise InputError(f"path {path} cannot be used: {str(error).splitlines()[0]}") from None
    return system, str(inner)


def absolute(path: str) -> str:
    """A path that means the same on every machine that shares the file system."""
    return path if "://" in path else str(Path(path).expanduser().absolute())


def exists(path: str) -> bool:
    system, inner = file_system(path)
    return bool(system.get_file_info(inner).type != FileType.NotFound)


@contextmanager
def published(path: str, *, overwrite: bool = False) -> Iterator[str]:
    """Gives a folder to write into; it becomes `path` when the block ends well and vanishes when it does not."""
    system, inner = file_system(path)
    taken = system.get_file_info(inner).type != FileType.NotFound
    if taken and not overwrite:
        raise InputError(f"output {path} exists; choose another place or say --overwrite")
    parent, _, name = inner.rstrip("/").rpartition("/")
    # Names that begin with a dot are no data to Spark.
    draft = f"{parent}/.{name}.{uuid.uuid4().hex[:8]}"
    prefix = path[: len(path) - len(inner)] if "://" in path else ""
    try:
        system.create_dir(draft, recursive=True)
        yield prefix + draft
        if taken:
            old = f"{draft}.old"
            system.move(inner, old)
            system.move(draft, inner)
            system.delete_dir(old)
        else:
            system.move(draft, inner)
    finally:
        if system.get_file_info(draft).type != FileType.NotFound:
            system.delete_dir(draft)
