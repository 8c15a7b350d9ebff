"""KEY=VALUE on the command line, as a settings file would say it."""

import tomllib
from collections.abc import Sequence

from sluice.errors import InputError
from sluice.settings.scenario import Argument


def parse_arguments(words: Sequence[str]) -> dict[str, Argument]:
    """Values are TOML; what is no TOML value is a word (`balancer=range`)."""
    parsed: dict[str, Argument] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--set {word!r} is not KEY=VALUE (example: --set f_up=0.8)")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        parsed[key.strip()] = value
    return parsed


def whole_numbers(name: str, text: str) -> tuple[int, ...]:
    """Numbers of at least 1, with commas between them."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) >= 1 for word in words):
        raise InputError(f"{name} is {text!r}; give whole numbers of at least 1 with commas between them")
    return tuple(int(word) for word in words)
