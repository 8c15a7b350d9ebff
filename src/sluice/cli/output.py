"""How verbs write: tables for people, files for machines."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sluice.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 150
"""Columns of a table that goes to a file or a pipe: nobody wraps it there."""


def console(*, stderr: bool = False) -> "Console":
    """Where a verb prints."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=WIDE)


def write_json(path: Path, data: Any) -> None:
    """Our values as JSON; what is unknown is null."""
    from sluice.model.codec import encode

    write_text(path, json.dumps(encode(data), indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """The file, with its folders."""
    check_writable(path)
    path.write_text(text, encoding="utf-8")


def check_writable(path: Path) -> None:
    """A place that cannot be written to is the user's mistake, and told before the work starts; nothing is lost."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; choose another place") from None
