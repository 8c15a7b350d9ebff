"""Finds scenarios: a path, or the name of one that comes with Sluice."""

import os
from importlib.resources import files
from pathlib import Path

from sluice.assembly.loop import check_policies
from sluice.assembly.topology import check_topology
from sluice.errors import InputError, did_you_mean
from sluice.settings.rate import TraceRate
from sluice.settings.scenario import Scenario, read_scenario
from sluice.settings.topic import RecordedArrivals, TopicSettings

DATA_VARIABLE = "SLUICE_DATA"
DATA_FOLDER = Path("../shared/data")


def packaged_names() -> tuple[str, ...]:
    """The scenarios that come with Sluice."""
    return tuple(sorted(path.stem for path in _packaged().glob("*.toml")))


def find_scenario(word: str, data: Path | None = None) -> Scenario:
    """The scenario at that path or of that name; trace files are looked for beside it, then in the data folder."""
    path = Path(word)
    if not path.is_file():
        named = _packaged() / f"{word}.toml"
        if path.suffix == ".toml" or path.parent != Path() or not named.is_file():
            what = f"scenario {word} is no file"
            raise InputError(f"{what}, nor the name of one that comes along; {did_you_mean(word, packaged_names())}")
        path = named
    scenario = _with_files(read_scenario(path), (path.parent, data_folder(data)))
    check_policies(scenario, str(path))
    check_topology(scenario, str(path))
    return scenario


def data_folder(given: Path | None = None) -> Path:
    """Where traces are that belong to their authors and do not come along."""
    if given is not None and not given.is_dir():
        raise InputError(f"data folder {given} is no folder")
    return given or Path(os.environ.get(DATA_VARIABLE) or DATA_FOLDER)


def stand_ins(scenario: Scenario) -> tuple[str, ...]:
    """The trace files that are absent and replaced by a fitted curve."""
    rates = [topic.rate for topic in scenario.topic if isinstance(topic.rate, TraceRate)]
    return tuple(rate.file for rate in rates if rate.otherwise is not None and not Path(rate.file).is_file())


def _packaged() -> Path:
    return Path(str(files("sluice.lab") / "scenarios"))


def _with_files(scenario: Scenario, folders: tuple[Path, ...]) -> Scenario:
    topics = tuple(_topic_with_files(topic, folders) for topic in scenario.topic)
    return scenario.model_copy(update={"topic": topics})


def _topic_with_files(topic: TopicSettings, folders: tuple[Path, ...]) -> TopicSettings:
    changed: dict[str, object] = {}
    if isinstance(topic.rate, TraceRate):
        changed["rate"] = topic.rate.model_copy(update={"file": _found(topic.rate.file, folders)})
    if isinstance(topic.arrivals, RecordedArrivals):
        changed["arrivals"] = topic.arrivals.model_copy(update={"file": _found(topic.arrivals.file, folders)})
    return topic.model_copy(update=changed)


def _found(file: str, folders: tuple[Path, ...]) -> str:
    return next((str(folder / file) for folder in folders if (folder / file).is_file()), file)
