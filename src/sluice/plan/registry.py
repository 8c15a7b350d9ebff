"""Policies by name: which class, with which arguments, inside which guards. Choice is data.

Other packages add theirs through the entry point group `sluice.policies` (name = "module:Class").
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, TypeVar, cast

from sluice.errors import InputError, did_you_mean
from sluice.plan.arguments import REQUIRED, Parameter, checked, parameters_of
from sluice.plan.base import Policy

GROUP = "sluice.policies"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """A policy's class as "module:Class", the arguments that are part of its name, its own guard settings."""

    path: str
    fixed: Mapping[str, object] = field(default_factory=dict)
    guards: Mapping[str, object] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Names that users know from elsewhere, and ours."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Names that users know from elsewhere and that have no meaning here, and why."""


# Packers plan every `every_s` seconds, others have a rest of their own or are meant as published: no cool-down on top.
_AT_ONCE = {"cooldown_s": 0.0}
# The autoscaler of Kubernetes knows nothing of rebalances.
_AS_IS = {"cooldown_s": 0.0, "recovery_ratio": 0.0, "wait_settled": False}
_KEDA_NAMES = {
    "lagThreshold": "lag_threshold",
    "minReplicaCount": "min_replica_count",
    "maxReplicaCount": "max_replica_count",
    "allowIdleConsumers": "allow_idle_consumers",
    "limitToPartitionsWithLag": "limit_to_partitions_with_lag",
    "ensureEvenDistributionOfPartitions": "ensure_even_distribution_of_partitions",
    "pollingInterval": "polling_interval_s",
    "useCachedMetrics": "use_cached_metrics",
    **{
        f"{theirs}.{key}": f"{ours}_{word}"
        for theirs, ours in (("scaleUp", "scale_up"), ("scaleDown", "scale_down"))
        for key, word in (
            ("stabilizationWindowSeconds", "stabilization_s"),
            ("tolerance", "tolerance"),
            ("selectPolicy", "select"),
        )
    },
}
_TO_ZERO = "it matters only for scaling to zero, which is left out; remove it"
_KEDA_TO_ZERO = dict.fromkeys(("activationLagThreshold", "cooldownPeriod", "idleReplicaCount"), _TO_ZERO)
_PACKERS = ("nf", "ff", "bf", "wf", "nfd", "ffd", "bfd", "wfd", "mwf", "mbf", "mwfp", "mbfp")

BUILT_IN: Mapping[str, Entry] = {
    "hold": Entry("sluice.plan.hold:Hold"),
    "overprovision": Entry("sluice.plan.overprovision:Overprovision", guards=_AT_ONCE),
    "linear": Entry("sluice.plan.linear:Linear"),
    "paper-optimal": Entry("sluice.plan.paper_optimal:PaperOptimal", guards=_AT_ONCE),
    "binpack": Entry("sluice.plan.binpack:Binpack"),
    "tail-binpack": Entry("sluice.plan.tail_binpack:TailBinpack"),
    "keda": Entry("sluice.plan.keda:Keda", guards=_AS_IS, aliases=_KEDA_NAMES, left_out=_KEDA_TO_ZERO),
    "flas": Entry("sluice.plan.flas:Flas"),
    "mm1-buffer": Entry("sluice.plan.mm1_buffer:Mm1Buffer", guards=_AT_ONCE),
    "threshold": Entry("sluice.plan.threshold:Threshold", guards=_AT_ONCE),
    "gigk": Entry("sluice.plan.gigk:Gigk", guards=_AT_ONCE),
    "gigk-path": Entry("sluice.plan.gigk_path:GigkPath", guards=_AT_ONCE),
    "ds2": Entry("sluice.plan.ds2:Ds2", guards=_AT_ONCE),
    "flink": Entry("sluice.plan.flink:Flink"),
    **{
        name: Entry("sluice.plan.bytes_packing:BytesPacking", fixed={"algorithm": name}, guards=_AT_ONCE)
        for name in _PACKERS
    },
}


def policy_names() -> tuple[str, ...]:
    """Every policy there is, built-in ones first."""
    return (*BUILT_IN, *(name for name in sorted(_plugins()) if name not in BUILT_IN))


def policy_parameters(name: str) -> Mapping[str, Parameter]:
    """What can be set of a policy and of its guards, with types and defaults."""
    entry = _entry(name)
    return {**_own_parameters(entry), **_guard_parameters(entry)}


def our_names(name: str, arguments: Mapping[str, T]) -> dict[str, T]:
    """The arguments of a policy, those that users know by another name under ours."""
    aliases = _entry(name).aliases
    return {aliases.get(given, given): value for given, value in arguments.items()}


def make_policy(name: str, **arguments: object) -> Policy:
    """The policy of that name inside its guards; arguments go to the policy or to the guards by their names."""
    from sluice.plan.guards import GuardSettings, guarded  # compiled kernels: not needed to list names

    entry = _entry(name)
    own = _own_parameters(entry)
    known = {**own, **_guard_parameters(entry)}
    values: dict[str, object] = {}
    for given, value in arguments.items():
        argument = entry.aliases.get(given, given)
        if given in entry.left_out:
            raise InputError(f"policy {name} does not take {given}: {entry.left_out[given]}")
        if argument not in known:
            raise InputError(
                f"policy {name} has no argument {given!r}; {did_you_mean(given, {**known, **entry.aliases})}"
            )
        if argument in values:
            raise InputError(f"policy {name}: {argument} is given twice, once as {given!r}; give it once")
        values[argument] = checked(f"policy {name}", known[argument], value)
    for parameter in own.values():
        if parameter.default is REQUIRED and parameter.name not in values:
            raise InputError(f"policy {name} needs {parameter.name}; give a value of type {parameter.kind}")
    policy = _maker(entry)(**entry.fixed, **{k: v for k, v in values.items() if k in own})
    settings: dict[str, Any] = {**entry.guards, **{k: v for k, v in values.items() if k not in own}}
    try:
        return guarded(policy, GuardSettings(**settings))
    except InputError as error:
        raise InputError(f"policy {name}: {error}") from None


def _entry(name: str) -> Entry:
    found = BUILT_IN.get(name) or _plugins().get(name)
    if found is None:
        raise InputError(f"policy {name!r} is unknown; {did_you_mean(name, policy_names())}")
    return found


def _plugins() -> Mapping[str, Entry]:
    return {point.name: Entry(point.value) for point in entry_points(group=GROUP)}


def _maker(entry: Entry) -> Callable[..., Policy]:
    module, _, name = entry.path.partition(":")
    try:
        return cast(Callable[..., Policy], getattr(import_module(module), name))
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"policy class {entry.path} cannot be loaded: {error}; repair the package that offers it"
        ) from error


def _own_parameters(entry: Entry) -> Mapping[str, Parameter]:
    return {name: p for name, p in parameters_of(_maker(entry)).items() if name not in entry.fixed}


def _guard_parameters(entry: Entry) -> Mapping[str, Parameter]:
    from sluice.plan.guards import GuardSettings

    return {
        name: replace(p, default=entry.guards.get(name, p.default)) for name, p in parameters_of(GuardSettings).items()
    }
