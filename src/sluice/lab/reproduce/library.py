"""The papers by name."""

from collections.abc import Sequence
from importlib import import_module

from sluice.errors import InputError, did_you_mean
from sluice.lab.reproduce.paper import Paper

PAPERS = ("tail-binpack", "packing", "queue-buffer", "dataflow")
ALL = "all"


def find_papers(words: Sequence[str]) -> tuple[Paper, ...]:
    """The papers of these names, or all of them, each once."""
    for word in words:
        if word not in (*PAPERS, ALL):
            raise InputError(f"paper {word!r} is unknown; {did_you_mean(word, (*PAPERS, ALL))}")
    chosen = PAPERS if ALL in words or not words else tuple(dict.fromkeys(words))
    return tuple(_paper(name) for name in chosen)


def _paper(name: str) -> Paper:
    module = import_module(f"sluice.lab.reproduce.{name.replace('-', '_')}")
    paper: Paper = module.PAPER
    return paper
