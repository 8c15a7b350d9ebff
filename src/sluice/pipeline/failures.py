"""What Spark says when a job fails, as one line for a person."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from sluice.errors import InputError, SluiceError, UnavailableError

_OURS = re.compile(r"sluice\.errors\.(InputError|UnavailableError): ([^\n]*)")
_NO_CONNECTOR = "Failed to find data source: kafka"
_NOT_THERE = ("PATH_NOT_FOUND", "FileNotFoundException")
_UNREADABLE = ("FAILED_READ_FILE", "CANNOT_READ_FILE_FOOTER", "AccessControlException", "UNABLE_TO_INFER_SCHEMA")


@contextmanager
def plain_failures(what: str) -> Iterator[None]:
    """Within the block a failing job raises one of our errors, which names `what` was read or written."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        raise _ours(str(error), what) from error


def _ours(said: str, what: str) -> SluiceError:
    # An error of ours that was raised in an executor comes back inside the text of Spark's.
    found = _OURS.search(said)
    if found:
        return (InputError if found[1] == "InputError" else UnavailableError)(found[2].strip())
    if _NO_CONNECTOR in said:
        return UnavailableError(
            'Spark was started without its Kafka connector; give spark-submit --jars "$(sluice pipeline jars)"'
        )
    if any(word in said for word in _NOT_THERE):
        return InputError(f"{what} does not exist; check the path")
    first = said.strip().partition("\n")[0][:200]
    if any(word in said for word in _UNREADABLE):
        return InputError(f"{what} cannot be read as its format says ({first})")
    return UnavailableError(f"Spark could not finish the work on {what}: {first}")
