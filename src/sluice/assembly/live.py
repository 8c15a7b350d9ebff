"""A live control loop from its settings."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sluice.analyze.base import Analyzer
from sluice.analyze.by_group import ByGroup
from sluice.analyze.window import WindowAnalyzer
from sluice.assembly.acting import Command, build_helm
from sluice.assembly.forecast import forecasting, looks_back_s
from sluice.assembly.rehearsal import rehearse
from sluice.broker.record import running
from sluice.control.helm import Helm
from sluice.control.loop import ControlLoop, Sink
from sluice.errors import InputError
from sluice.execute.advise import Advise
from sluice.execute.base import Executor
from sluice.model import LagBasis, Objective
from sluice.monitor.base import Monitor
from sluice.monitor.kafka import GroupSource, KafkaMonitor, Ownership, StreamMonitor
from sluice.monitor.measured import MeasuredMonitor, MeasurementFile, MeasurementTopic
from sluice.monitor.measured.base import Measurements
from sluice.plan.base import Policy, memory_s
from sluice.plan.guards.presence import Presence
from sluice.plan.registry import make_policy
from sluice.settings.live import LiveSettings, WatchedSettings

_LEAST_MEMORY = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A loop that is ready to tick; `helm` is None when it only recommends."""

    loop: ControlLoop
    helm: Helm | None = None
    measured: MeasuredMonitor | None = None
    """Where the load comes from, if from a stream of measurements."""

    def state(self, group: str) -> str:
        return "recommend" if self.helm is None else self.helm.state(group)

    def finish(self) -> None:
        """Begin nothing new from now on."""
        if self.helm is not None:
            self.helm.finish()

    def idle(self) -> bool:
        """Nothing is under way."""
        return self.helm is None or self.helm.idle


def cluster_address(settings: LiveSettings) -> str:
    """The file's, else the development broker's."""
    if settings.kafka.bootstrap is not None:
        return settings.kafka.bootstrap
    found = running()
    if found is None:
        raise InputError(
            "kafka.bootstrap is missing and no development broker runs; name a broker or start one "
            "with 'sluice broker up'"
        )
    return found.bootstrap


def build_policies(settings: LiveSettings, policy: str, shadows: Sequence[str]) -> tuple[Policy, tuple[Policy, ...]]:
    """The deciding policy and those beside it, each inside its guards; InputError names the one that cannot be made."""
    initial = {group.name: group.initial_consumers for group in settings.group}

    def made(name: str) -> Policy:
        arguments = {**settings.guards, **settings.policy.get(name, {})}
        return Presence(make_policy(name, **arguments), initial_consumers=initial)

    for name in settings.policy:
        made(name)
    return made(policy), tuple(made(name) for name in shadows)


@contextmanager
def live(
    settings: LiveSettings,
    *,
    bootstrap: str,
    act: bool,
    policy: str,
    shadows: Sequence[str],
    sink: Sink,
    around: Callable[[Monitor, Executor], tuple[Monitor, Executor]] = lambda *both: both,
) -> Iterator[Live]:
    """Connect to the cluster and put the loop together; everything is closed at the end, the consumers go on.

    `around`: what the loop is to see instead of its monitor and its executor, made from them.
    """
    deciding, beside = build_policies(settings, policy, shadows)
    analyzer = ByGroup({group.name: _analyzer(group, settings) for group in settings.group})
    command = Command()
    with ExitStack() as stack:
        monitor = _monitor(settings, bootstrap, command, act=act)
        stack.callback(monitor.close)
        objective = Objective(latency_s=settings.objective.latency_s, sla_ratio=settings.objective.sla_ratio)
        # Before it leads: a leader that compiles cannot decide.
        rehearse(analyzer, (deciding, *beside), objective, tuple(group.name for group in settings.group))
        seen, measured = _seen(settings, bootstrap, monitor, stack)
        helm = build_helm(settings, bootstrap, monitor, command, stack, seen=seen) if act else None
        watch = around(helm or seen, helm or Advise())
        loop = ControlLoop(
            monitor=watch[0],
            analyzer=analyzer,
            policy=deciding,
            executor=watch[1],
            objective=objective,
            sink=sink,
            shadows=beside,
            memory=_memory(settings, analyzer, (deciding, *beside)),
        )
        yield Live(loop=loop, helm=helm, measured=measured)


def _seen(
    settings: LiveSettings, bootstrap: str, monitor: Monitor, stack: ExitStack
) -> tuple[Monitor, MeasuredMonitor | None]:
    """The monitor, with the load from streams of measurements where groups name one."""
    streams: dict[str, Measurements] = {}
    for group in settings.group:
        if group.measurements is not None:
            streams[group.name] = made = _measurements(group.measurements, settings, bootstrap)
            stack.callback(made.close)
    if not streams:
        return monitor, None
    measured = MeasuredMonitor(monitor, streams, stale_s=settings.control.stale_s)
    return measured, measured


def _measurements(place: str, settings: LiveSettings, bootstrap: str) -> Measurements:
    if place.endswith(".jsonl"):
        return MeasurementFile(Path(place))
    return MeasurementTopic(bootstrap, place, client=settings.kafka.client, limit_s=settings.kafka.limit_s)


def _monitor(settings: LiveSettings, bootstrap: str, command: Command, *, act: bool) -> KafkaMonitor | StreamMonitor:
    sources = [_source(group) for group in settings.group]
    client, limit_s = settings.kafka.client, settings.kafka.limit_s
    if settings.control.monitor == "stream":
        stale_s = settings.control.stale_s
        return StreamMonitor(bootstrap, sources, client=client, limit_s=limit_s, stale_s=stale_s, commanded=command)
    return KafkaMonitor(bootstrap, sources, client=client, limit_s=limit_s, groups_exist=not act, commanded=command)


def _source(group: WatchedSettings) -> GroupSource:
    return GroupSource(
        group=group.name,
        topics=group.topics,
        ownership=Ownership(group.mode),
        lag_basis=LagBasis(group.lag_basis),
        from_start=group.from_start,
        reports=group.reports,
        lease_s=group.lease_s,
        silence_s=group.silence_s,
    )


def _analyzer(group: WatchedSettings, settings: LiveSettings) -> Analyzer:
    measured = WindowAnalyzer(
        window_s=settings.analyze.window_s,
        bursts=settings.analyze.bursts,
        burst_period_s=settings.analyze.burst_period_s,
        service_window_s=settings.analyze.service_window_s,
        rebalance_quantile=settings.analyze.rebalance_quantile,
        service_eps=group.service_eps,
        capacity_bps=group.capacity_bps,
        rebalance_s=group.rebalance_s,
        startup_s=group.startup_s,
    )
    return forecasting(measured, settings.analyze.forecast, group.name)


def _memory(settings: LiveSettings, analyzer: ByGroup, policies: Sequence[Policy]) -> int:
    needed_s = max(settings.analyze.service_window_s, looks_back_s(analyzer), *(memory_s(p) for p in policies))
    return max(_LEAST_MEMORY, math.ceil(needed_s / settings.control.interval_s) + 1)
