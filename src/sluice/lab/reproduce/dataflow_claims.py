"""What the elastic function pipelines paper claims."""

from sluice.lab.reproduce.claim import Claim, Rule

_JUMP = (
    "The peak is the jump of the offered load from 1.1 to 3.1 with three instances there; one is added a decision. "
    "With alpha 0.5 the path keeps more in reserve: peak 2.7 s, mean 0.73 s, but 5.6 instances."
)
WHY = {
    "threshold-mean": "Backlog over rate: it scales with our rates; gentler steps (0.4 to 3.6) gave 22 s.",
    "queueing-mean": "Alpha and the rates are ours; alpha 0.5 gives 0.73 s, 0.7 gives 1.3 s.",
    "queueing-peak": _JUMP,
    "printed-mean": "Alpha and the rates are ours; alpha 0.5 gives 0.73 s, 0.7 gives 1.3 s.",
    "printed-peak": _JUMP,
    "ds2-instances": "DS2 rounds the offered load up: 4.5 needs loads just above whole numbers all the time. Four sets "
    "of steps with a mean of at most 1.5 gave 3.9 to 4.0.",
    "ds2-mean": "Transitions make it: gentler steps gave 1.3 to 2.3 s, these 2.5 s.",
    "ds2-peak": "As high as the largest jump of the load, which is ours; four sets of steps gave 10 to 18 s.",
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
