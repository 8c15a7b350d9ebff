"""Verdicts in words, the same on a terminal and on a page."""

from sluice.lab.reproduce.claim import Measured, Rule, Verdict


def published_text(verdict: Verdict) -> str:
    """What the paper says."""
    if verdict.published is None:
        return "no difference" if verdict.rule == Rule.LEVEL else "in this order"
    text = _text(verdict.published, verdict)
    return f"< {text}" if verdict.rule == Rule.BELOW else text


def measured_text(verdict: Verdict) -> str:
    """What we found."""
    return _text(verdict.measured, verdict)


def difference_text(verdict: Verdict) -> str:
    """By how much the two differ; empty where that is no number."""
    if verdict.difference is None or verdict.rule == Rule.BELOW:
        return ""
    if verdict.rule == Rule.PERCENT:
        return f"{verdict.difference:+.1f} points"
    return f"{verdict.difference:+.1%}"


def _text(value: Measured, verdict: Verdict) -> str:
    ordered = verdict.rule in (Rule.ORDER, Rule.PERCENT_ORDER)
    numbers = ordered or verdict.rule == Rule.LEVEL
    if not isinstance(value, tuple):
        return f"{_number(value)} {verdict.unit}".strip()
    if not numbers:
        return ", ".join(str(item) for item in value) or "none"
    between = " → " if ordered else ", "
    return f"{between.join(_number(float(item)) for item in value)} {verdict.unit}".strip()


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
