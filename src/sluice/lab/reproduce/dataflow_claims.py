"""What the elastic function pipelines paper claims."""

from sluice.lab.reproduce.claim import Claim, Rule

_JUMP = (
    "The load jumps by more than the path has in reserve, and one instance is added a decision. Of some 20 sets of "
    "steps the peaks were 3.5 to 17 s: below 3 s alpha must be so low that the path hardly ever shrinks (alpha 0.5: "
    "2.7 s, but 5.6 instances)."
)
WHY = {
    "queueing-peak": _JUMP,
    "printed-peak": _JUMP,
    "ds2-mean": "Made by the jumps of the load, which is only in a figure: some 20 sets of steps gave 2.1 to 2.9 s. "
    "Those with 2.6 s and more put the threshold policy's mean at 25 to 33 s instead of 23 s.",
    "ds2-peak": "As high as the largest jump, which lasts one decision of 30 s: some 20 sets of steps gave 9 to 19 s.",
}


def _number(key: str, text: str, published: float, unit: str = "", rule: Rule = Rule.NUMBER) -> Claim:
    return Claim(key=key, text=text, published=published, unit=unit, rule=rule, why=WHY.get(key, ""))


CLAIMS = (
    _number("threshold-instances", "threshold: instances of all functions", 3.5),
    _number("threshold-least", "threshold: fewest instances", 3.0),
    _number("threshold-most", "threshold: most instances", 7.0),
    _number("threshold-mean", "threshold: mean response", 23.0, "s"),
    _number("threshold-peak", "threshold: peak response", 74.0, "s"),
    _number("queueing-instances", "queueing: instances of all functions", 5.0),
    _number("queueing-mean", "queueing: mean response", 1.03, "s"),
    _number("queueing-peak", "queueing: peak response", 3.0, "s", Rule.BELOW),
    _number("printed-instances", "queueing, formula as printed: instances of all functions", 5.0),
    _number("printed-mean", "queueing, formula as printed: mean response", 1.03, "s"),
    _number("printed-peak", "queueing, formula as printed: peak response", 3.0, "s", Rule.BELOW),
    _number("ds2-instances", "DS2: instances of all functions", 4.5),
    _number("ds2-mean", "DS2: mean response", 2.7, "s"),
    _number("ds2-peak", "DS2: peak response", 26.0, "s"),
    Claim(
        key="latency-order",
        text="latency: queueing < DS2 < threshold",
        published=(1.03, 2.7, 23.0),
        rule=Rule.ORDER,
        unit="s",
        why=WHY.get("latency-order", ""),
    ),
    Claim(
        key="instances-order",
        text="instances: threshold < DS2 < queueing",
        published=None,
        rule=Rule.ORDER,
        why=WHY.get("instances-order", ""),
    ),
    _number("controlled", "threshold: the backlog comes back after each crossing of T_out", 100.0, "%", Rule.PERCENT),
    _number("overhead", "scaling costs next to nothing: mean response against instant start-up", 1.0, "x"),
    Claim(
        key="seamless",
        text="seamless changes against stock restarts of all instances (2 s): mean response",
        published=None,
        rule=Rule.ORDER,
        unit="s",
    ),
)
