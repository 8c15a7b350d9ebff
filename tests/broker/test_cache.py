"""Jars by their coordinates: complete or not there at all, and one clear line when they cannot be had."""

from pathlib import Path

import pytest

from sluice.broker.cache import cache_folder, resolve
from sluice.errors import InputError, UnavailableError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_cache_is_where_the_user_says(cache: Path) -> None:
    assert cache_folder() == cache


def test_a_jar_is_fetched_once_and_then_needs_neither_java_nor_network(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jars = resolve("org.slf4j:slf4j-api:2.0.17", "one", transitive=False)
    assert [jar.name for jar in jars] == ["slf4j-api-2.0.17.jar"]
    assert jars[0].read_bytes()[:2] == b"PK"
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert resolve("org.slf4j:slf4j-api:2.0.17", "one", transitive=False) == jars
    assert not [path for path in cache.iterdir() if path.name.startswith(".one-")], "work folders are removed"


def test_without_java_the_error_says_what_to_install(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(UnavailableError, match="Java 17 or newer is missing; install it or set JAVA_HOME"):
        resolve("org.slf4j:slf4j-api:2.0.17", "one")
    assert not (cache / "one").exists()


def test_a_registry_that_is_away_is_named_after_the_retries(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Port 9 of loopback is closed: every connection is refused.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9")
    with pytest.raises(UnavailableError, match=r"registry did not give org\.slf4j.*Connection refused") as caught:
        resolve("org.slf4j:slf4j-api:2.0.17", "one", attempts=2, wait_s=0.01)
    assert "\n" not in str(caught.value)
    assert not (cache / "one").exists()


def test_a_version_that_does_not_exist_is_told_apart_from_a_registry_that_is_away(cache: Path) -> None:
    with pytest.raises(UnavailableError, match=r"org\.slf4j:slf4j-api:99\.9 is not in the registry"):
        resolve("org.slf4j:slf4j-api:99.9", "one", transitive=False)
    assert not (cache / "one").exists()


@pytest.mark.parametrize("text", ["kafka", "a:b", "a:b:c:d", "a::c"])
def test_coordinates_have_three_parts(text: str) -> None:
    with pytest.raises(InputError, match="GROUP:NAME:VERSION"):
        resolve(text, "one")


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="set SLUICE_CACHE"):
        resolve("org.slf4j:slf4j-api:2.0.17", "one")
