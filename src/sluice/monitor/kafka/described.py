"""Sizes of logs and members of groups, as kafka-python's admin client describes them (the other one has no sizes)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from sluice.model import Partition

_T = TypeVar("_T")
# What a request may end with; the last three when an answer is not of the expected form.
FAILURES = (KafkaError, OSError, TimeoutError, RuntimeError, KeyError, TypeError, ValueError)
# The same settings under the names this client knows.
_NAMES = {
    "security.protocol": "security_protocol",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "ssl.ca.location": "ssl_cafile",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.key.location": "ssl_keyfile",
    "ssl.key.password": "ssl_password",
    "client.id": "client_id",
}


class Describer:
    """Asks in threads of its own, so that requests overlap; one that hangs is not asked again until it has ended."""

    def __init__(self, bootstrap: str, client: Mapping[str, str], *, limit_s: float) -> None:
        # A broker that is away is our business to report, once; the client would write of every try.
        logging.getLogger("kafka").setLevel(logging.CRITICAL)
        limit_ms = round(limit_s * 1000)
        self._settings: dict[str, Any] = {
            "bootstrap_servers": bootstrap.split(","),
            "request_timeout_ms": limit_ms,
            "bootstrap_timeout_ms": limit_ms,
            "reconnect_backoff_max_ms": 1000,
            **{_NAMES[key]: value for key, value in client.items() if key in _NAMES},
        }
        self._sizes = _Asker(self._settings, "sluice-sizes")
        self._members = _Asker(self._settings, "sluice-members")

    def sizes(self, partitions: Sequence[Partition]) -> Future[dict[Partition, float]] | None:
        """Begin to read the logs' sizes; None while an earlier reading still hangs."""
        wanted: dict[str, list[int]] = {}
        for partition in partitions:
            wanted.setdefault(partition.topic, []).append(partition.number)
        return self._sizes.ask(lambda admin: _largest(admin.describe_log_dirs(wanted)))

    def members(self, groups: Sequence[str]) -> Future[dict[str, Any]] | None:
        """Begin to read the groups' members."""
        if not groups:
            return None
        return self._members.ask(lambda admin: dict(admin.describe_groups(list(groups))))

    def close(self) -> None:
        self._sizes.close()
        self._members.close()


class _Asker:
    def __init__(self, settings: Mapping[str, Any], name: str) -> None:
        self._settings = settings
        self._admin: KafkaAdminClient | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._running: Future[Any] | None = None

    def ask(self, question: Callable[[KafkaAdminClient], _T]) -> Future[_T] | None:
        if self._running is not None and not self._running.done():
            return None
        asked = self._pool.submit(self._answer, question)
        self._running = asked
        return asked

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._disconnect()

    def _answer(self, question: Callable[[KafkaAdminClient], _T]) -> _T:
        try:
            if self._admin is None:
                self._admin = KafkaAdminClient(**self._settings)
            return question(self._admin)
        except FAILURES:
            # A client that lost its broker may go on asking the wrong one: a new one finds its way anew.
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        if self._admin is not None:
            with suppress(*FAILURES):
                self._admin.close()
            self._admin = None


def _largest(brokers: list[dict[str, Any]]) -> dict[Partition, float]:
    """The biggest replica of each partition (followers trail their leader), copies to another disk left out."""
    found: dict[Partition, float] = {}
    for broker in brokers:
        for folder in broker["log_dirs"]:
            for topic in folder["topics"] if folder["error_code"] == 0 else ():
                for each in topic["partitions"]:
                    if not each["is_future_key"]:
                        partition = Partition(topic["name"], each["partition_index"])
                        found[partition] = max(float(each["partition_size"]), found.get(partition, 0.0))
    return found
