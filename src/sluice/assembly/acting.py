"""What carries plans out, from the settings."""

import re
from contextlib import ExitStack
from pathlib import Path

from sluice.broker.cache import cache_folder
from sluice.control.helm import Helm
from sluice.control.leadership import Leadership
from sluice.errors import InputError
from sluice.execute.base import Executor
from sluice.execute.board import PlanBoard
from sluice.execute.by_group import ByGroup
from sluice.execute.control_link import ControlLink
from sluice.execute.group import GroupExecutor
from sluice.execute.local import LocalConsumers
from sluice.execute.managed import ManagedExecutor
from sluice.execute.members import Members
from sluice.execute.plan_server import PlanServer
from sluice.execute.processes import Processes
from sluice.model import Partition
from sluice.model.telemetry import telemetry_topic
from sluice.monitor.base import Monitor
from sluice.monitor.kafka import KafkaMonitor, Standing, StreamMonitor
from sluice.monitor.kafka.cluster import connect
from sluice.sdk.connect import ensure_topic
from sluice.sdk.group_settings import Assignor, GroupSettings
from sluice.sdk.reporter import TOPIC_SETTINGS
from sluice.settings.live import LiveSettings, WatchedSettings


def consumers_folder(bootstrap: str) -> Path:
    """Where the notes and outputs of a cluster's consumer processes are, a folder for each group."""
    return cache_folder() / "consumers" / re.sub(r"[^\w.-]", "_", bootstrap)


class Command:
    """The managed groups' executors, for the monitor: whoever commands knows best who owns what."""

    def __init__(self) -> None:
        self.executors: dict[str, ManagedExecutor] = {}

    def __call__(self, group: str, partitions: tuple[Partition, ...]) -> Standing | None:
        executor = self.executors.get(group)
        stands = None if executor is None else executor.standing(partitions)
        return None if stands is None else Standing(assignment=stands[0], settled=stands[1])


def build_helm(
    settings: LiveSettings,
    bootstrap: str,
    monitor: KafkaMonitor | StreamMonitor,
    command: Command,
    stack: ExitStack,
    *,
    seen: Monitor,
) -> Helm:
    """Leadership and executors of every group; `stack` closes them, the consumers go on. `seen`: what is planned with,
    the monitor's view or one made from it."""
    admin = connect(bootstrap, settings.kafka.client)
    leads: dict[str, Leadership] = {}
    for group in settings.group:
        # With the topic there, no report means that nobody reports; without it, it would mean nothing.
        ensure_topic(admin, group.reports or telemetry_topic(group.name), partitions=1, config=TOPIC_SETTINGS)
        lead = Leadership(bootstrap, group.name, client=settings.kafka.client, session_s=settings.kafka.session_s)
        leads[group.name] = stack.enter_context(lead)
    board = PlanBoard(folder=consumers_folder(bootstrap), epoch=lambda group: leads[group].epoch)
    url = None
    if settings.control.listen is not None:
        host, _, port = settings.control.listen.rpartition(":")
        url = stack.enter_context(PlanServer(board, host=host, port=int(port))).url
    executors: dict[str, Executor] = {}
    for group in settings.group:
        if group.mode == "group":
            if isinstance(monitor, StreamMonitor):
                raise InputError(
                    f"group {group.name!r} has mode group: to act on it the broker must be asked who its members are; "
                    "set control.monitor to broker"
                )
            executors[group.name] = _group_executor(settings, group, bootstrap, monitor, board, url)
        else:
            made = _managed_executor(settings, group, bootstrap)
            stack.callback(made.close)
            command.executors[group.name] = executors[group.name] = made
    return Helm(seen, ByGroup(executors), groups=leads, epoch=lambda group: leads[group].epoch)


def _managed_executor(settings: LiveSettings, group: WatchedSettings, bootstrap: str) -> ManagedExecutor:
    processes = Processes(
        group.command,
        environment={**_common_environment(settings, group, bootstrap), **group.environment},
        folder=group_folder(bootstrap, group),
    )
    link = ControlLink(bootstrap, group.name, client=settings.kafka.client)
    return ManagedExecutor(link, LocalConsumers(processes))


def _group_executor(
    settings: LiveSettings,
    group: WatchedSettings,
    bootstrap: str,
    monitor: KafkaMonitor,
    board: PlanBoard,
    url: str | None,
) -> GroupExecutor:
    taking_part = GroupSettings(assignor=group.assignor, rebalance=group.rebalance, heartbeat_s=group.heartbeat_s)
    fleet = Processes(
        group.command,
        environment={
            **_common_environment(settings, group, bootstrap),
            **taking_part.to_environment(),
            "SLUICE_CONTROLLER": url or str(board.path(group.name)),
            **group.environment,
        },
        folder=group_folder(bootstrap, group),
    )

    def members() -> Members | None:
        seen = monitor.members(group.name)
        if seen is None:
            return None
        return Members(steady=seen.settled, owned={c: frozenset(held) for c, held in seen.assignment.owned().items()})

    planned = Assignor(group.assignor) is Assignor.PLANNED
    return GroupExecutor(group=group.name, board=board if planned else None, fleet=fleet, members=members)


def group_folder(bootstrap: str, group: WatchedSettings) -> Path:
    """Of one group's consumer processes."""
    return consumers_folder(bootstrap) / re.sub(r"[^\w.-]", "_", group.name)


def _common_environment(settings: LiveSettings, group: WatchedSettings, bootstrap: str) -> dict[str, str]:
    """What a consumer process must know to take part."""
    client = settings.kafka.client
    return {
        "SLUICE_BOOTSTRAP": bootstrap,
        "SLUICE_GROUP": group.name,
        "SLUICE_TOPICS": ",".join(group.topics),
        "SLUICE_MODE": group.mode,
        "SLUICE_FROM_START": str(group.from_start).lower(),
        **({"SLUICE_REPORTS": group.reports} if group.reports else {}),
        **({"SLUICE_CLIENT": ",".join(f"{k}={v}" for k, v in client.items())} if client else {}),
    }
