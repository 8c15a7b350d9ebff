"""The tolerance rule, claim by claim."""

import pytest

from sluice.lab.reproduce.claim import Claim, Measured, Rule, holds, judge


@pytest.mark.parametrize(
    ("rule", "published", "measured", "good"),
    [
        (Rule.NUMBER, 30.0, 33.0, True),
        (Rule.NUMBER, 30.0, 33.1, False),
        (Rule.NUMBER, 30.0, 27.0, True),
        (Rule.NUMBER, 30.0, 26.9, False),
        (Rule.NUMBER, 0.0, 0.0, True),
        (Rule.NUMBER, 0.0, 0.1, False),
        (Rule.PERCENT, 97.4, 94.4, True),
        (Rule.PERCENT, 97.4, 94.3, False),
        (Rule.PERCENT, -39.0, -36.0, True),
        (Rule.BELOW, 1.0, 0.99, True),
        (Rule.BELOW, 1.0, 1.0, False),
        (Rule.ORDER, None, (1.0, 2.0, 3.0), True),
        (Rule.ORDER, None, (1.0, 1.0), False),
        (Rule.ORDER, (1.0, 2.7, 23.0), (0.9, 0.95, 4.0), True),
        (Rule.ORDER, (1.0, 2.7, 23.0), (0.9, 0.8, 4.0), False),
        (Rule.ORDER, (23.0, 2.7), (4.0, 2.0), True),
        (Rule.ORDER, (23.0, 2.7), (2.0, 4.0), False),
        # Published numbers that close count as equal: then ours must be, too, whichever is larger.
        (Rule.ORDER, (780.0, 783.0), (800.0, 790.0), True),
        (Rule.ORDER, (780.0, 783.0), (800.0, 1000.0), False),
        (Rule.PERCENT_ORDER, (97.4, 98.1), (97.0, 96.9), True),
        (Rule.PERCENT_ORDER, (95.4, 98.9), (97.0, 96.9), False),
        (Rule.LEVEL, None, (-25.0, -23.5, -22.0), True),
        # Each step is within 3 points, the whole is not.
        (Rule.LEVEL, None, (-25.0, -23.0, -21.0), False),
        (Rule.AMONG, ("mwf", "mbf"), ("mbf", "bfd", "mwf"), True),
        (Rule.AMONG, ("mwf", "mbf"), ("mbf", "bfd"), False),
        (Rule.SAME, ("kd_24",), ("kd_24",), True),
        (Rule.SAME, ("kd_24",), ("kd_24", "kd_30"), False),
    ],
)
def test_the_tolerance(rule: Rule, published: Measured | None, measured: Measured, good: bool) -> None:
    assert holds(rule, published, measured) is good


def test_a_verdict_says_by_how_much_and_why_not() -> None:
    claims = (
        Claim(key="a", text="cost", published=30.0, unit="replica-min", why="never"),
        Claim(key="b", text="share", published=97.4, rule=Rule.PERCENT, why="because"),
        Claim(key="c", text="unexplained", published=1.0),
    )
    cost, share, odd = judge("paper", claims, {"a": 33.0, "b": 90.0, "c": 2.0})
    assert (cost.holds, cost.note) == (True, "")
    assert cost.difference == pytest.approx(0.1)
    assert (share.holds, share.note) == (False, "because")
    assert share.difference == pytest.approx(-7.4)
    assert not odd.holds
    assert odd.note


def test_a_claim_nobody_measured_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        judge("paper", (Claim(key="a", text="cost", published=30.0),), {})
