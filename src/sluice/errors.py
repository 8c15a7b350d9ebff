"""The errors a caller may want to tell apart.

SluiceError
├── InputError        what the user gave us cannot be used (exit code 2)
└── UnavailableError  something outside (broker, Java, a process) did not answer (exit code 2)
"""

from collections.abc import Iterable
from difflib import get_close_matches


class SluiceError(Exception):
    """Base of every error Sluice raises on purpose; its text is one line for a person."""


class InputError(SluiceError):
    """A field, a value or a file that cannot be used. The text names field, value and remedy."""


class UnavailableError(SluiceError):
    """A service or program Sluice needs did not answer in time. The text says what to start or install."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The tail of an error line: the nearest known word, else all of them."""
    names = sorted(map(str, known))  # a member of a StrEnum would show its class
    near = get_close_matches(word, names, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names) or 'none'}"
