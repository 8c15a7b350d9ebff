"""What the tail-latency bin packing paper claims."""

from sluice.lab.reproduce.claim import Claim, Rule

_NAMES = {
    "tail": "Algorithm 2",
    "binpack": "Algorithm 1",
    "linear": "linear",
    "optimal": "optimal",
    "over": "overprovision",
}

# (percent within SLA, replica-minutes, scale-ups, scale-downs)
_TABLE = {
    "a-tail": (97.4, 30.21, 6, 6),
    "a-binpack": (97.4, 30.21, 6, 6),
    "a-linear": (94.7, 25.5, 6, 6),
    "a-optimal": (100.0, 32.7, 6, 6),
    "a-over": (100.0, 50.0, 0, 0),
    "b-tail": (98.9, 402.9, 20, 16),
    "b-linear": (95.4, 325.7, 23, 20),
    "b-optimal": (100.0, 414.11, 20, 16),
    "b-over": (100.0, 600.0, 0, 0),
}
_SKEWED = {
    "a-skewed-tail": (98.9, 29.8),
    "a-skewed-linear": (84.7, 25.5),
    "b-skewed-tail": (99.08, 392.15),
    "b-skewed-linear": (85.9, 329.7),
}
_LONG = {
    "tr-0.5-binpack": (90.1, 33.85),
    "tr-0.5-tail": (98.2, 34.61),
    "tr-2-binpack": (85.4, 34.16),
    "tr-2-tail": (99.4, 44.7),
}

_TIGHTER = (
    "Nine smaller items fit where five large ones do not: packed second by second at 85 events/s a consumer, B needs "
    "413 replica-minutes when even and 334 when skewed; the paper's pair is only 3 % apart. With shares rounded up as "
    "in the authors' producer the run comes to 346 (335 without); with the capacity of 175 events/s of some of their "
    "controllers it would be 383 here, but 432 when even."
)
_HALF_SECOND = (
    "The paper loses 7.3 points, 8,000 events, to pauses of 0.5 s; here Algorithm 1 loses half a point in 14 "
    "rebalances of one burst at most. No cool-down and some of 5 to 11 s, starts of 0 to 9 s, fixed or drawn, drifts "
    "of 0.1 to 5 %, random keys, rebalances at random phases, leavers that pause too, 5.3 to 5.9 ms an event and no "
    "reassignments at all (theirs never reach the group) gave 93.9 to 98.4 %."
)
_ONE_AT_TWO = (
    "Algorithm 2 agrees; Algorithm 1 costs 31 replica-minutes, not 34.2: with 8 s of cool-down it never sees the "
    "backlog of its own rebalances. With 5 s or none it does, and costs 34 at 84 %, as published (Algorithm 2 then "
    "costs 27 to 30 % more); but linear then adds 32 consumers or more on B, not 23, and one setting serves all here."
)
_LINEAR_ON_B = (
    "Linear follows each wiggle of the file across a border that outlasts its cool-down: 33 removals without any, 30 "
    "at 5 s, 26 at 7 s, 21 at 8 and 9 s, 20 at 10 s; 22 to 24 at 8 s where rates come out 1 % high."
)
_GROWS_ONCE = (
    "Algorithm 2 becomes overprovisioning itself: it grows once to five, keeps them nearly to the end (45 "
    "replica-minutes of 50) and serves 98.5 %; Algorithm 1, which still scales, falls to 59 %."
)
_WHY = {
    "b-linear-up": _LINEAR_ON_B,
    "b-linear-down": _LINEAR_ON_B,
    "b-skewed-tail-cost": _TIGHTER,
    "tr-0.5-binpack-sla": _HALF_SECOND,
    "tr-0.5-gain": _HALF_SECOND,
    "tr-2-more": _ONE_AT_TWO,
    "tr-only-over": _GROWS_ONCE,
}


def _label(key: str) -> str:
    words = key.split("-")
    if words[0] == "tr":
        return f"A, t_r {words[1]} s: {_NAMES[words[2]]}"
    return f"{words[0].upper()}{' skewed' if 'skewed' in words else ''}: {_NAMES[words[-1]]}"


def _percent(key: str, text: str, published: float) -> Claim:
    return Claim(key=key, text=text, published=published, rule=Rule.PERCENT, unit="%", why=_WHY.get(key, ""))


def _number(key: str, text: str, published: float, unit: str) -> Claim:
    return Claim(key=key, text=text, published=published, unit=unit, why=_WHY.get(key, ""))


def _order(key: str, text: str, published: tuple[float, ...] | None = None, rule: Rule = Rule.ORDER) -> Claim:
    return Claim(key=key, text=text, published=published, rule=rule, why=_WHY.get(key, ""))


def _rows() -> tuple[Claim, ...]:
    claims: list[Claim] = []
    for key, (sla, cost, *actions) in _TABLE.items():
        claims.append(_percent(f"{key}-sla", f"{_label(key)}, within SLA", sla))
        claims.append(_number(f"{key}-cost", f"{_label(key)}, cost", cost, "replica-min"))
        for word, count in zip(("up", "down"), actions, strict=True):
            claims.append(_number(f"{key}-{word}", f"{_label(key)}, scale-{word}s", count, ""))
    for key, (sla, cost) in (*_SKEWED.items(), *_LONG.items()):
        claims.append(_percent(f"{key}-sla", f"{_label(key)}, within SLA", sla))
        claims.append(_number(f"{key}-cost", f"{_label(key)}, cost", cost, "replica-min"))
    return tuple(claims)


CLAIMS = (
    *_rows(),
    _percent("a-heartbeat-sla", "A, heartbeat 0.5 s: Algorithm 2, within SLA", 98.1),
    _order("a-heartbeat-order", "A, heartbeat 3 s → 0.5 s: within SLA", (97.4, 98.1), Rule.PERCENT_ORDER),
    Claim(
        key="a-heartbeat-max",
        text="A, heartbeat 0.5 s cuts the worst latency",
        published=1.0,
        rule=Rule.BELOW,
        unit="s",
        why=_WHY.get("a-heartbeat-max", ""),
    ),
    _percent("b-heartbeat-sla", "B, heartbeat 0.5 s: Algorithm 2, within SLA", 99.07),
    _order("b-heartbeat-order", "B, heartbeat 3 s → 0.5 s: within SLA", (98.9, 99.07), Rule.PERCENT_ORDER),
    Claim(
        key="b-heartbeat-max",
        text="B, heartbeat 0.5 s cuts the worst latency",
        published=1.0,
        rule=Rule.BELOW,
        unit="s",
        why=_WHY.get("b-heartbeat-max", ""),
    ),
    _percent("tr-2-binpack-sla", "A, t_r 2 s: Algorithm 1, within SLA (given elsewhere)", 85.6),
    _percent("tr-0.5-gain", "A, t_r 0.5 s: Algorithm 2 gains over Algorithm 1", 8.1),
    _percent("tr-0.5-more", "A, t_r 0.5 s: Algorithm 2 costs more than Algorithm 1", 2.2),
    _percent("tr-2-gain", "A, t_r 2 s: Algorithm 2 gains over Algorithm 1", 14.0),
    _percent("tr-2-more", "A, t_r 2 s: Algorithm 2 costs more than Algorithm 1", 30.8),
    _percent("a-gain", "A: bin packing beats linear by", 2.7),
    _percent("a-linear-sla", "A: linear, within SLA (the text's number)", 93.9),
    _percent("a-gain", "A: bin packing beats linear by (with the text's number)", 3.5),
    _order("a-gain-order", "A: linear → Algorithm 2, within SLA", (94.7, 97.4), Rule.PERCENT_ORDER),
    _percent("b-gain", "B: bin packing beats linear by", 3.5),
    _order("b-gain-order", "B: linear → Algorithm 2, within SLA", (95.4, 98.9), Rule.PERCENT_ORDER),
    _percent("a-skewed-gain", "A skewed: bin packing beats linear by", 14.2),
    _percent("b-skewed-gain", "B skewed: bin packing beats linear by", 13.2),
    _percent("a-saved", "A: cost against overprovision", -39.0),
    _percent("b-saved", "B: cost against overprovision (the table's numbers)", -33.0),
    _percent("b-saved", "B: cost against overprovision (the text's number)", -31.0),
    _order("f_up-sla", "f_up 0.9, 0.75, 0.6: the lower, the better the SLA"),
    _order("f_up-cost", "f_up 0.9, 0.75, 0.6: the lower, the higher the cost"),
    _order("f_down-downs", "f_down 0.2, 0.3, 0.4: the lower, the fewer scale-downs"),
    _order("f_down-cost", "f_down 0.4, 0.3, 0.2: the lower, the higher the cost"),
    _order("tr-suffers", "t_r 0.05, 0.5, 2 s: Algorithm 1's SLA suffers", (97.4, 90.1, 85.4), Rule.PERCENT_ORDER),
    _order("tr-costs", "t_r 0.05, 0.5, 2 s: Algorithm 2 costs more", (30.21, 34.61, 44.7)),
    _order("tr-defers", "t_r 2 s: Algorithm 2 defers scale-downs (fewer of them than Algorithm 1)"),
    Claim(
        key="tr-only-over",
        text="at a very high t_r (10 s) only overprovisioning keeps 95 %",
        published=("over",),
        rule=Rule.SAME,
        why=_WHY.get("tr-only-over", ""),
    ),
)
