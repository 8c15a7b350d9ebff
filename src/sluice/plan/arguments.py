"""Arguments that come as plain data, from a file or a command line, checked against a class's own signature."""

import inspect
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin

from sluice.errors import InputError

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One keyword argument: `kinds` are the types a value may have, `default` is REQUIRED where there is none."""

    name: str
    kinds: tuple[type, ...]
    default: object

    @property
    def kind(self) -> str:
        return " or ".join(kind.__name__ for kind in self.kinds if kind is not type(None))


def parameters_of(maker: Callable[..., object]) -> Mapping[str, Parameter]:
    """The keyword arguments of a class or function."""
    return {
        name: Parameter(name=name, kinds=_kinds(found.annotation), default=found.default)
        for name, found in inspect.signature(maker, eval_str=True).parameters.items()
        if found.kind in (found.KEYWORD_ONLY, found.POSITIONAL_OR_KEYWORD)
    }


def checked(owner: str, parameter: Parameter, value: object) -> Any:
    """The value in the parameter's type; whole numbers are good where fractions are wanted."""
    kinds = parameter.kinds
    if float in kinds and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    fits = object in kinds or (isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds))
    if not fits:
        raise InputError(f"{owner}: {parameter.name} is {value!r}; give a value of type {parameter.kind}")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{owner}: {parameter.name} is {value}; give a finite number")
    return value


def _kinds(hint: Any) -> tuple[type, ...]:
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(kind for part in get_args(hint) for kind in _kinds(part))
    if hint is None:
        return (type(None),)
    origin = get_origin(hint) or hint
    return (origin,) if isinstance(origin, type) and origin is not REQUIRED else (object,)
