"""Bin packing: partitions are items, consumers are bins. Arrays in, arrays out."""

from collections.abc import Mapping

from sluice.theory.packing.any_fit import ANY_FIT
from sluice.theory.packing.base import Packer, Packing
from sluice.theory.packing.bounds import lower_bound
from sluice.theory.packing.exact import exact_packing
from sluice.theory.packing.least_loaded import FEW, bins_needed, least_loaded
from sluice.theory.packing.metrics import cbs, pareto_front, rscore
from sluice.theory.packing.modified import MODIFIED
from sluice.theory.packing.spread import spread
from sluice.theory.packing.streams import size_stream

PACKERS: Mapping[str, Packer] = {**ANY_FIT, **MODIFIED}

__all__ = [
    "FEW",
    "PACKERS",
    "Packer",
    "Packing",
    "bins_needed",
    "cbs",
    "exact_packing",
    "least_loaded",
    "lower_bound",
    "pareto_front",
    "rscore",
    "size_stream",
    "spread",
]
