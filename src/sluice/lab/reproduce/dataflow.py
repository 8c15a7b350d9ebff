"""Elastic function pipelines: threshold, GI/G/k along paths and DS2 on three functions."""

from collections.abc import Mapping

import numpy as np

from sluice.assembly.loop import with_arguments
from sluice.lab.library import find_scenario
from sluice.lab.reproduce.claim import Measured
from sluice.lab.reproduce.dataflow_claims import CLAIMS
from sluice.lab.reproduce.figure import Figure, line
from sluice.lab.reproduce.paper import Findings, Paper, Setting
from sluice.lab.reproduce.trial import Case, Trial, Trials, changed, run_cases
from sluice.model.values import FloatArray

SEEDS = 10
T_OUT = 150.0
_NAMES = {"threshold": "threshold", "queueing": "queueing", "ds2": "DS2"}


def run(setting: Setting) -> Findings:
    scenario = find_scenario("image-functions")
    queueing = Case(scenario=scenario, policy="gigk-path")
    cases = {
        "threshold": Case(scenario=scenario, policy="threshold"),
        "queueing": queueing,
        "ds2": Case(scenario=scenario, policy="ds2"),
        "printed": Case(scenario=with_arguments(scenario, "gigk-path", {"printed_formula": True}), policy="gigk-path"),
        "free": Case(scenario=changed(scenario, group={"startup_s": 0.0}), policy="gigk-path"),
        "restart": Case(
            scenario=changed(scenario, group={"protocol": "restart", "rebalance_s": 2.0}), policy="gigk-path"
        ),
    }
    trials = run_cases(setting.runner, cases, lambda _: setting.seeds or SEEDS)
    return Findings(
        measured=_measured(trials), figures=_figures(trials), sources=("load: drawn, ten minutes at each of our rates",)
    )


def _measured(trials: Trials) -> Mapping[str, Measured]:
    found: dict[str, Measured] = {}
    for key in ("threshold", "queueing", "ds2", "printed"):
        found |= {
            f"{key}-instances": trials.mean(key, lambda trial: float(_instances(trial).mean())),
            f"{key}-mean": trials.mean(key, lambda trial: trial.last.mean_s),
            f"{key}-peak": trials.mean(key, lambda trial: float(np.nanmax(trial.last.response_s))),
        }

    def row(number: str, *keys: str) -> tuple[float, ...]:
        return tuple(float(str(found[f"{key}-{number}"])) for key in keys)

    return found | {
        "threshold-least": trials.mean("threshold", lambda trial: float(_instances(trial).min())),
        "threshold-most": trials.mean("threshold", lambda trial: float(_instances(trial).max())),
        "latency-order": row("mean", "queueing", "ds2", "threshold"),
        "instances-order": row("instances", "threshold", "ds2", "queueing"),
        "controlled": trials.mean("threshold", _brought_back),
        "overhead": trials.mean("queueing", lambda trial: trial.mean_s)
        / trials.mean("free", lambda trial: trial.mean_s),
        "seamless": tuple(trials.mean(key, lambda trial: trial.mean_s) for key in ("queueing", "restart")),
    }


def _instances(trial: Trial) -> FloatArray:
    """Of all functions together."""
    total: FloatArray = np.sum([stage.consumers for stage in trial.stages], axis=0, dtype=np.float64)
    return total


def _brought_back(trial: Trial) -> float:
    """Percent of the times recognition's backlog rose above T_out after which it came back to it before the end."""
    over = trial.last.lag_events > T_OUT
    began = np.flatnonzero(over[1:] & ~over[:-1]) + 1
    if not len(began):
        return 100.0
    back = [bool((~over[start:]).any()) for start in began.tolist()]
    return 100.0 * sum(back) / len(back)


def _figures(trials: Trials) -> tuple[Figure, ...]:
    first = {name: trials[key][0] for key, name in _NAMES.items()}
    load = first["DS2"].stages[0]
    backlogs = tuple(
        Figure(
            title=f"{name}: backlog per function",
            traces=tuple(line(stage.name, stage.time_s, stage.lag_events) for stage in trial.stages),
            x="seconds",
            y="events",
        )
        for name, trial in first.items()
    )
    return (
        Figure(title="Load", traces=(line("images", load.time_s, load.arrival_eps),), x="seconds", y="events/s"),
        *backlogs,
        Figure(
            title="Response of the recognition path",
            traces=tuple(line(n, t.last.time_s[1:], t.last.response_s[1:]) for n, t in first.items()),
            x="seconds",
            y="mean response, seconds",
            layout={"yaxis": {"type": "log", "tickvals": [0.5, 1, 2, 5, 10, 20, 50, 100]}},
        ),
        Figure(
            title="Instances of all functions",
            traces=tuple(line(n, t.last.time_s, _instances(t), steps=True) for n, t in first.items()),
            x="seconds",
            y="instances",
        ),
    )


PAPER = Paper(
    name="dataflow",
    title="Elastic function pipelines",
    claims=CLAIMS,
    run=run,
    choices=(
        "Not compressed: ten minutes a rate, a decision every 30 s, the published thresholds.",
        "Ours, as rates and service times are only in a figure: recognition takes 0.79 s for every image, resizing "
        "0.04 s, exponential; recognition is offered 0.1, 0.75, 1.1, 0.25, 3.2 and 3.35 instances' worth; a new "
        "instance starts in 1 to 2 s. Chosen by how many claims hold: a fit.",
        "Ours: alpha 0.5. Service alone takes more than half a second, so the queueing policy never gives back.",
        "The waiting probability below 70 % utilisation is the literature's; the printed formula has its own rows.",
    ),
)
