"""Searches a policy's parameters for the cheapest setting that keeps the objective."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from sluice.assembly.loop import build_policy, with_arguments
from sluice.errors import InputError
from sluice.lab.experiment import run
from sluice.lab.outcome import Outcome
from sluice.lab.promise import Promise, promises_of
from sluice.lab.reproduce.runner import Runner
from sluice.plan.registry import policy_parameters
from sluice.settings.scenario import Argument, Scenario

if TYPE_CHECKING:
    from optuna.trial import Trial


@dataclass(frozen=True, slots=True)
class Range:
    """What may be tried of a parameter; `below` names one that it must stay under, as a share of it."""

    low: float
    high: float
    below: str | None = None

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int)


SPACE: Mapping[str, Range] = {
    "f_up": Range(0.4, 0.99),
    "f_down": Range(0.2, 0.95, below="f_up"),
    "factor": Range(0.4, 1.0),
    "capacity_ratio": Range(0.5, 1.0),
    "cooldown_s": Range(0.0, 60.0),
    "patience_up": Range(1, 5),
    "patience_down": Range(1, 30),
    "lag_threshold": Range(1, 1000),
    "scale_down_stabilization_s": Range(0.0, 300.0),
    "upper_ratio": Range(0.2, 1.0),
    "lower_ratio": Range(0.02, 0.9, below="upper_ratio"),
    "window": Range(1, 10),
    "up_react_w": Range(1, 10),
    "down_react_w": Range(1, 30),
    "buffer_weight": Range(0.1, 5.0),
    "t_out": Range(1.0, 500.0),
    "t_in": Range(0.02, 0.9, below="t_out"),
    "alpha": Range(0.05, 0.95),
    "target_utilization": Range(0.4, 0.95),
    "catch_up_s": Range(1.0, 120.0),
}
"""By the name of the parameter, whatever the policy; what is not here is not searched."""
_DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting of the policy and what it came to, in the mean over seeds."""

    arguments: Mapping[str, Argument]
    sla_ratio: float
    """Share of all events in time, each by the objective of its path."""
    replica_minutes: float
    promises: tuple[Promise, ...]
    """What it is judged by: the objective, or those of all paths where one has its own."""

    @property
    def spare(self) -> float:
        """By how much the worst kept promise is kept; negative where one is broken."""
        return min(promise.spare for promise in self.promises)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """`front`: what no other setting beats in both, cheapest first. `chosen`: the cheapest that keeps the objective."""

    policy: str
    before: Setting
    front: tuple[Setting, ...]
    chosen: Setting
    kept: bool
    """False: nothing tried keeps the objective; `chosen` comes closest."""


def searched(policy: str) -> tuple[str, ...]:
    """The parameters of the policy and its guards that are searched."""
    return tuple(name for name in SPACE if name in policy_parameters(policy))


def tune(
    scenario: Scenario,
    policy: str,
    *,
    trials: int,
    seeds: int,
    runner: Runner,
    only: tuple[str, ...] = (),
    on_done: Callable[[int], None] = lambda _: None,
) -> Tuned:
    """The scenario's own setting is tried first, so the answer is never worse than it. The same call finds the same."""
    try:
        import optuna
    except ImportError:
        raise InputError("tuning needs optuna; install it with: pip install 'sluice[tune]'") from None
    names = _names(policy, only)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=optuna.samplers.TPESampler(seed=0))
    tried: list[Setting] = [_measured(scenario, policy, {}, seeds, runner)]
    on_done(1)
    while len(tried) < trials:
        trial = study.ask()
        setting = _measured(scenario, policy, _suggested(trial, names), seeds, runner)
        study.tell(trial, [setting.replica_minutes, setting.spare])
        tried.append(setting)
        on_done(len(tried))
    return _tuned(policy, tried)


def setting_toml(policy: str, arguments: Mapping[str, Argument]) -> str:
    """The setting as a scenario or `sluice run` takes it, whole: it stands for what the file says of the policy."""
    # Of what an argument can be JSON and TOML write everything alike.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()]
    return "\n".join([f"[policy.{policy}]", *lines]) + "\n"


def _names(policy: str, only: tuple[str, ...]) -> tuple[str, ...]:
    known = searched(policy)
    for name in only:
        if name not in known:
            raise InputError(f"parameter {name!r} of policy {policy} is not searched; known: {', '.join(known)}")
    names = set(only or known)
    if not names:
        raise InputError(f"policy {policy} has no parameter to search; choose another policy")
    # What another one must stay below is searched with it.
    names |= {above for name in names if (above := SPACE[name].below)}
    return tuple(name for name in SPACE if name in names)


def _suggested(trial: "Trial", names: tuple[str, ...]) -> dict[str, Argument]:
    whole = {n: trial.suggest_int(n, int(SPACE[n].low), int(SPACE[n].high)) for n in names if SPACE[n].whole}
    broken = {n: trial.suggest_float(n, SPACE[n].low, SPACE[n].high) for n in names if not SPACE[n].whole}
    for name in broken:
        above = SPACE[name].below
        if above is not None:
            broken[name] *= broken[above]
    # What is tried is what will be written: nobody wants sixteen digits, and fewer would be another setting.
    return {**whole, **{name: round(value, _DIGITS) for name, value in broken.items()}}


@dataclass(frozen=True, slots=True)
class _Job:
    scenario: Scenario
    policy: str
    seed: int


def _measured(
    scenario: Scenario, policy: str, arguments: Mapping[str, Argument], seeds: int, runner: Runner
) -> Setting:
    changed = with_arguments(scenario, policy, arguments)
    build_policy(changed, policy)  # a mistake is told here, not by another process
    outcomes = runner.map(_outcome, [_Job(changed, policy, seed) for seed in range(seeds)])
    return Setting(
        arguments=dict(changed.policy[policy]),
        sla_ratio=fmean(outcome.row.sla_ratio for outcome in outcomes),
        replica_minutes=fmean(outcome.row.replica_minutes for outcome in outcomes),
        promises=promises_of(changed, outcomes),
    )


def _outcome(job: _Job) -> Outcome:
    return run(job.scenario, job.policy, job.seed, bound=None, exact=False)


def _tuned(policy: str, tried: list[Setting]) -> Tuned:
    front: list[Setting] = []
    for setting in sorted(tried, key=lambda one: (one.replica_minutes, -one.spare)):
        if not front or setting.spare > front[-1].spare:
            front.append(setting)
    keeping = [setting for setting in front if setting.spare >= 0]
    return Tuned(
        policy=policy,
        before=tried[0],
        front=tuple(front),
        chosen=keeping[0] if keeping else front[-1],
        kept=bool(keeping),
    )
