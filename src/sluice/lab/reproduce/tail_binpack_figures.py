"""The tail-latency paper's figures, redrawn."""

import numpy as np

from sluice.assembly.loop import build_loop, build_policy
from sluice.assembly.world import build_world
from sluice.control.journal import Discard
from sluice.lab.reproduce.figure import Figure, Trace, bars, cdf, line
from sluice.lab.reproduce.trial import Case, Trials
from sluice.simulate import simulate
from sluice.simulate.world import arrivals_of

_SHOWN = {"tail": "Algorithm 2", "linear": "linear", "optimal": "optimal", "over": "overprovision"}


def figures(trials: Trials, per_consumer: Case) -> tuple[Figure, ...]:
    """Loads, consumers, latencies and costs of both workloads; the runs shown are those of the first phase."""
    made: list[Figure] = []
    for word in ("a", "b"):
        first = {name: trials[f"{word}-{key}"][0] for key, name in _SHOWN.items()}
        load = first["overprovision"].last
        made += [
            Figure(
                title=f"Workload {word.upper()}",
                traces=(line("load", load.time_s, load.arrival_eps),),
                x="seconds",
                y="events/s",
            ),
            Figure(
                title=f"{word.upper()}: consumers over time",
                traces=tuple(line(n, t.last.time_s, t.last.consumers, steps=True) for n, t in first.items()),
                x="seconds",
                y="consumers",
            ),
            Figure(
                title=f"{word.upper()}: latency, distribution",
                traces=tuple(cdf(n, t.cdf_s, t.cdf_ratio) for n, t in first.items()),
                x="seconds",
                y="% of events",
                layout={"xaxis": {"range": [0, 2.0]}},
            ),
            Figure(
                title=f"{word.upper()}: cost",
                traces=(bars("cost", list(_SHOWN.values()), [trials.cost(f"{word}-{key}") for key in _SHOWN]),),
                y="replica-minutes",
            ),
        ]
    return (*made, _per_consumer(per_consumer), _heartbeats(trials), _taxi_rides(trials), *_distributions(trials))


def _distributions(trials: Trials) -> tuple[Figure, ...]:
    """The paper's comparisons of tails, each curve of one run."""
    shown: dict[str, dict[str, str]] = {
        "A skewed": {"Algorithm 2": "a-skewed-tail", "linear": "a-skewed-linear"},
        "B skewed": {"Algorithm 2": "b-skewed-tail", "linear": "b-skewed-linear"},
        "A by heartbeat, Algorithm 2": {"3 s": "a-tail", "0.5 s": "a-heartbeat"},
        "A by t_r, Algorithm 1": {"0.05 s": "a-binpack", "0.5 s": "tr-0.5-binpack", "2 s": "tr-2-binpack"},
        "A, t_r 0.5 s": {"Algorithm 1": "tr-0.5-binpack", "Algorithm 2": "tr-0.5-tail"},
        "A, t_r 2 s": {"Algorithm 1": "tr-2-binpack", "Algorithm 2": "tr-2-tail"},
    }
    return tuple(
        Figure(
            title=f"{title}: latency, distribution",
            traces=tuple(cdf(name, trials[key][0].cdf_s, trials[key][0].cdf_ratio) for name, key in curves.items()),
            x="seconds",
            y="% of events",
            layout={"xaxis": {"range": [0, 5.0]}, "yaxis": {"range": [50, 101]}},
        )
        for title, curves in shown.items()
    )


def _taxi_rides(trials: Trials) -> Figure:
    shown = {"even": trials["b-tail"][0].last, "skewed": trials["b-skewed-tail"][0].last}
    return Figure(
        title="B: worst latency over time",
        hint="Of Algorithm 2, one run each.",
        traces=tuple(line(name, s.time_s, s.worst_s) for name, s in shown.items()),
        x="seconds",
        y="worst latency, seconds",
    )


def _heartbeats(trials: Trials) -> Figure:
    shown = {"3 s": trials["a-tail"][0].last, "0.5 s": trials["a-heartbeat"][0].last}
    return Figure(
        title="A: worst latency by heartbeat",
        hint="Of Algorithm 2, one run; a leaver's partitions wait for one heartbeat.",
        traces=tuple(line(f"heartbeat {name}", s.time_s, s.worst_s) for name, s in shown.items()),
        x="seconds",
        y="worst latency, seconds",
    )


def _per_consumer(case: Case) -> Figure:
    """Who was how late when: every event is looked up in the history of owners."""
    spec, seed = build_world(case.scenario, 0), 0
    made = build_loop(case.scenario, build_policy(case.scenario, case.policy), Discard())
    (result,) = simulate(spec, seed=seed, make_loop=made).values()
    arriving = arrivals_of(spec, result.group, seed)
    latency_s = result.latencies.exact_s
    assert latency_s is not None  # asked for exactly
    partitions = sorted({owned.partition for owned in result.ownership})
    reader = np.empty(len(latency_s), dtype=np.int64)
    names: list[str] = []
    for number, partition in enumerate(partitions):
        owned = [one for one in result.ownership if one.partition == partition]
        for one in owned:
            if one.consumer not in names:
                names.append(one.consumer)
        events = np.flatnonzero(arriving.partition == number)
        turn = np.searchsorted([one.from_event for one in owned], np.arange(len(events)), side="right") - 1
        reader[events] = np.array([names.index(one.consumer) for one in owned])[turn]
    traces: list[Trace] = []
    for number, name in sorted(enumerate(names), key=lambda pair: pair[1]):
        mine = np.flatnonzero(reader == number)
        if len(mine):
            second = arriving.time_s[mine].astype(np.int64)
            worst_s = np.full(int(second[-1]) + 1, np.nan)
            np.fmax.at(worst_s, second, latency_s[mine])
            at = np.flatnonzero(~np.isnan(worst_s))
            traces.append({**line(name, at, worst_s[at]), "mode": "markers", "marker": {"size": 4}})
    return Figure(
        title="A: latency over time per consumer",
        hint="The worst of each second, Algorithm 2, one run.",
        traces=tuple(traces),
        x="seconds",
        y="worst latency, seconds",
    )
