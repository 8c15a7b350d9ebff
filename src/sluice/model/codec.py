"""Values to plain JSON data and back, read off their type hints.

Unknown numbers travel as null. Partitions are written once a decision: every value inside it speaks of the same ones.
"""

import types
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from sluice.errors import InputError
from sluice.model.assignment import Partition
from sluice.model.decision import Decision
from sluice.model.values import FloatArray, IntArray, floats, ints

_T = TypeVar("_T")


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """The decision as plain data, ready for `json.dumps`."""
    data = cast(dict[str, Any], encode(decision))
    _drop_partitions(data)
    return {"partitions": [str(p) for p in decision.snapshot.partitions], **data}


def decision_from_json(data: dict[str, Any]) -> Decision:
    """The inverse of `decision_to_json`."""
    try:
        partitions = tuple(Partition.parse(text) for text in data["partitions"])
        return decode(Decision, data, partitions)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"not a decision of this version: {type(error).__name__}: {error}") from error


def encode(value: Any) -> Any:
    """Plain data for any of our values."""
    if isinstance(value, np.ndarray):
        return _plain(value)
    if isinstance(value, Partition):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, msgspec.Struct) or is_dataclass(value):
        return {name: encode(getattr(value, name)) for name, _, _ in _hints(cast(type, type(value)))}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def _plain(array: NDArray[Any]) -> list[Any]:
    if array.ndim > 1:
        return [_plain(row) for row in array]
    plain: list[Any] = array.tolist()
    return [None if x != x else x for x in plain] if array.dtype.kind == "f" else plain


def decode(kind: type[_T], data: Any, partitions: tuple[Partition, ...]) -> _T:
    """The value of type `kind` that `data` describes."""
    return cast(_T, _decode(kind, data, partitions))


def _decode(kind: Any, data: Any, partitions: tuple[Partition, ...]) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = [a for a in get_args(kind) if a is not type(None)]
        if data is None or len(inner) != 1:
            return data
        return _decode(inner[0], data, partitions)
    if kind == FloatArray:
        return floats(np.array(data, dtype=object))  # None is NaN
    if kind == IntArray:
        return ints(data)
    if origin is tuple:
        return tuple(_decode(get_args(kind)[0], item, partitions) for item in data)
    if isinstance(kind, type) and issubclass(kind, Partition):
        return Partition.parse(data)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    if isinstance(kind, type) and (issubclass(kind, msgspec.Struct) or is_dataclass(kind)):
        return _decode_fields(kind, data, partitions)
    return data


def _decode_fields(kind: type, data: dict[str, Any], partitions: tuple[Partition, ...]) -> Any:
    made: dict[str, Any] = {}
    for name, hint, optional in _hints(kind):
        if name == "partitions" and name not in data:
            made[name] = partitions
        elif name in data:
            made[name] = _decode(hint, data[name], partitions)
        elif not optional:
            raise InputError(f"{kind.__name__}.{name} is missing")
    return kind(**made)


@lru_cache(maxsize=64)
def _hints(kind: type) -> tuple[tuple[str, Any, bool], ...]:
    """Name, type and whether it may be left out, for each field."""
    hints = get_type_hints(kind)
    if issubclass(kind, msgspec.Struct):
        return tuple((f.name, hints[f.name], not f.required) for f in msgspec.structs.fields(kind))
    return tuple(
        (f.name, hints[f.name], f.default is not MISSING or f.default_factory is not MISSING)
        for f in fields(cast(Any, kind))
    )


def _drop_partitions(data: Any) -> None:
    if isinstance(data, dict):
        # A list: the number of a reason may bear the same name.
        if isinstance(data.get("partitions"), list):
            del data["partitions"]
        for item in data.values():
            _drop_partitions(item)
    elif isinstance(data, list) and data and isinstance(data[0], dict | list):
        for item in data:
            _drop_partitions(item)
