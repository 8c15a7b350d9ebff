"""What a paper says, what we measured, and whether the one bears out the other.

The tolerance is fixed here, once, for every claim: a number within 10 % of the published one, a percentage within
3 points, an order exactly; two published numbers closer than that to each other count as equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

NUMBER_RATIO = 0.10
PERCENT_POINTS = 3.0
# Only what binary fractions lose: 97.4 - 94.4 is 3 points.
_ROUNDING = 1e-9

# Every claim that does not hold in the default runs has its own sentence; what is left are runs with fewer seeds or
# without the recorded traces.
_BY_CHANCE = "Not looked into: it held with the default seeds and the recorded traces when the sentences were written."

Measured = float | tuple[float, ...] | tuple[str, ...]


class Rule(StrEnum):
    """How a measured value is held against the published one."""

    NUMBER = "number within 10 %"
    PERCENT = "percentage within 3 points"
    ORDER = "order"
    PERCENT_ORDER = "order of percentages"
    LEVEL = "percentages within 3 points of each other"
    BELOW = "below"
    AMONG = "all among"
    SAME = "exactly these"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of a paper. `published` is None where it gives an order, or says "no difference", without numbers;
    rising is then what the order means."""

    key: str
    """By which its measurement is found."""
    text: str
    published: Measured | None
    rule: Rule = Rule.NUMBER
    unit: str = ""
    why: str = ""
    """Should it not hold: why, found by trying."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A claim, judged."""

    paper: str
    claim: str
    published: Measured | None
    measured: Measured
    difference: float | None
    """Measured less published: in points where the rule is about percentages, else as a share; None for the rest."""
    rule: str
    unit: str
    holds: bool
    note: str


def judge(paper: str, claims: Sequence[Claim], measured: Mapping[str, Measured]) -> tuple[Verdict, ...]:
    """Every claim in its order; each must have been measured."""
    return tuple(_judged(paper, claim, measured[claim.key]) for claim in claims)


def alike(rule: Rule, left: float, right: float) -> bool:
    """So close that they count as equal."""
    if rule in (Rule.PERCENT, Rule.PERCENT_ORDER, Rule.LEVEL):
        return abs(left - right) <= PERCENT_POINTS + _ROUNDING
    return abs(left - right) <= NUMBER_RATIO * max(abs(left), abs(right)) + _ROUNDING


def holds(rule: Rule, published: Measured | None, measured: Measured) -> bool:
    """The tolerance rule itself."""
    if rule in (Rule.ORDER, Rule.PERCENT_ORDER):
        return _same_order(rule, _numbers(published) if published is not None else None, _numbers(measured))
    if rule is Rule.LEVEL:
        return alike(rule, min(_numbers(measured)), max(_numbers(measured)))
    if rule is Rule.AMONG:
        return set(_names(published)) <= set(_names(measured))
    if rule is Rule.SAME:
        return set(_names(published)) == set(_names(measured))
    wanted, found = _number(published), _number(measured)
    if rule is Rule.BELOW:
        return found < wanted
    if rule is Rule.PERCENT:
        return alike(rule, wanted, found)
    return abs(found - wanted) <= NUMBER_RATIO * abs(wanted) + _ROUNDING


def _same_order(rule: Rule, published: tuple[float, ...] | None, measured: tuple[float, ...]) -> bool:
    if published is None:
        return all(left < right for left, right in pairwise(measured))
    for (wanted, next_wanted), (found, next_found) in zip(pairwise(published), pairwise(measured), strict=True):
        if alike(rule, wanted, next_wanted):
            if not alike(rule, found, next_found):
                return False
        elif found == next_found or (found < next_found) != (wanted < next_wanted):
            return False
    return True


def _judged(paper: str, claim: Claim, measured: Measured) -> Verdict:
    good = holds(claim.rule, claim.published, measured)
    return Verdict(
        paper=paper,
        claim=claim.text,
        published=claim.published,
        measured=measured,
        difference=_difference(claim, measured),
        rule=claim.rule.value,
        unit=claim.unit,
        holds=good,
        note="" if good else claim.why or _BY_CHANCE,
    )


def _difference(claim: Claim, measured: Measured) -> float | None:
    if not isinstance(claim.published, int | float) or not isinstance(measured, int | float):
        return None
    if claim.rule is Rule.PERCENT:
        return measured - claim.published
    return measured / claim.published - 1.0 if claim.published else None


def _number(value: Measured | None) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def _numbers(value: Measured) -> tuple[float, ...]:
    if not isinstance(value, tuple):
        raise TypeError(f"{value!r} is no row of numbers")
    return tuple(float(item) for item in value)


def _names(value: Measured | None) -> tuple[str, ...]:
    if not isinstance(value, tuple):
        raise TypeError(f"{value!r} is no row of names")
    return tuple(str(item) for item in value)
