"""Fixtures of the live tests."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sluice.broker.cache import cache_folder
from sluice.execute.processes import Processes


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Notes of consumer processes go to a folder of this test, and who is left at its end is ended."""
    cache = tmp_path / "cache"
    cache.mkdir()
    # What takes long to make is shared: the broker's jars and the compiled kernels.
    (cache_folder() / "compiled").mkdir(exist_ok=True)
    for shared in (*cache_folder().glob("kafka-*"), cache_folder() / "compiled"):
        (cache / shared.name).symlink_to(shared)
    monkeypatch.setenv("SLUICE_CACHE", str(cache))
    yield cache
    for folder in (cache / "consumers").glob("*/*/"):
        fleet = Processes([sys.executable], environment={}, folder=folder)
        for name in fleet.running():
            fleet.kill(name)
