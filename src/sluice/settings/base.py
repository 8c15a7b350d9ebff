"""Strict settings: an unknown key is an error that names the nearest known one, a number is a finite number."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Strict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from sluice.errors import InputError, did_you_mean

UNKNOWN = "unknown_key"
_Item = TypeVar("_Item")
_Settings = TypeVar("_Settings", bound="Settings")

Listed = Annotated[tuple[_Item, ...], Strict(False)]
"""An array of the file, kept as a tuple; its items stay strictly typed."""


class Settings(BaseModel):
    """Base of every table of a settings file."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, strict=True, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        # Before pydantic looks: a misspelt key must not be reported as a missing one.
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                hint = did_you_mean(key, cls.model_fields)
                raise PydanticCustomError(UNKNOWN, "{hint}", {"key": key, "hint": hint})
        return data


def checked(kind: type[_Settings], data: dict[str, Any], where: str) -> _Settings:
    """`data` as settings, or one line that names the file, the dotted key, the value and what is allowed."""
    try:
        return kind.model_validate(data)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
    first = min(errors, key=lambda e: e["type"] != UNKNOWN)
    key = _dotted(first["loc"], data, absent=first["type"] == "missing")
    if first["type"] == UNKNOWN:
        context = first["ctx"]
        raise InputError(f"{where}: unknown key {_join(key, context['key'])}; {context['hint']}")
    if first["type"] == "missing":
        raise InputError(f"{where}: {key} is missing")
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":
        raise InputError(f"{where}: {_join(key, '')}{': ' if key else ''}{said}")
    raise InputError(f"{where}: {key} is {_short(first['input'])}: {said[0].lower()}{said[1:]}")


def _dotted(location: tuple[str | int, ...], data: Any, *, absent: bool) -> str:
    """The key as the user wrote it: pydantic also names the variants it tried, which the file does not hold."""
    key = ""
    for position, step in enumerate(location):
        if isinstance(step, int):
            # A single table may stand for a list of one; then the file has no position to name.
            if isinstance(data, list):
                key += f"[{step}]"
                data = data[step] if step < len(data) else None
        elif isinstance(data, dict) and step in data:
            key = _join(key, step)
            data = data[step]
        elif absent and position == len(location) - 1:
            key = _join(key, step)
    return key


def _join(key: str, last: str) -> str:
    return f"{key}.{last}" if key and last else key or last


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
