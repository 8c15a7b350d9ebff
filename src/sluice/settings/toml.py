"""Reads a TOML file; what is wrong with it is one line with the line number."""

import tomllib
from pathlib import Path
from typing import Any

from sluice.errors import InputError


def read_toml(path: Path) -> dict[str, Any]:
    """The file's tables as plain data."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error).replace("at end of document", f"at line {len(text.splitlines())}, the end of the file")
        raise InputError(f"{path} is not TOML: {said}") from None
