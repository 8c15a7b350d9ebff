"""What the elastic function pipelines paper claims."""

from sluice.lab.reproduce.claim import Claim, Rule

WHY = {
    "ds2-peak": "Made by the largest jump of the load, 0.25 to 3.2 instances' worth, until the next decision. A jump "
    "to 3.6 or 4 gives 22 or 23 s, but the queueing policy's peak is then 5 or 9 s; changes of load 5 to 25 s after a "
    "decision give 17 to 23 s. Of the 682 best of some 75,000 settings none reached it.",
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
