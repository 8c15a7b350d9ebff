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
from sluice.execute.group import GroupExecutor
from sluice.execute.members import Members
from sluice.execute.plan_server import PlanServer
from sluice.execute.processes import Processes
from sluice.monitor.kafka import KafkaMonitor
from sluice.sdk.group_settings import Assignor, GroupSettings
from sluice.settings.live import LiveSettings, WatchedSettings


def consumers_folder(bootstrap: str) -> Path:
    """Where the notes and outputs of a cluster's consumer processes are, a folder for each group."""
    return cache_folder() / "consumers" / re.sub(r"[^\w.-]", "_", bootstrap)


def build_helm(settings: LiveSettings, bootstrap: str, monitor: KafkaMonitor, stack: ExitStack) -> Helm:
    """Leadership and executors of every group; `stack` closes them, the consumers go on."""
    for group in settings.group:
        if group.mode == "managed":
            raise InputError(f'group {group.name!r} is managed, which --act cannot carry out yet; use mode = "group"')
    board = PlanBoard(folder=consumers_folder(bootstrap))
    url = None
    if settings.control.listen is not None:
        host, _, port = settings.control.listen.rpartition(":")
        url = stack.enter_context(PlanServer(board, host=host, port=int(port))).url
    executors: dict[str, Executor] = {
        group.name: _group_executor(settings, group, bootstrap, monitor, board, url) for group in settings.group
    }
    leads: dict[str, Leadership] = {}
    for name in executors:
        lead = Leadership(bootstrap, name, client=settings.kafka.client, session_s=settings.kafka.session_s)
        leads[name] = stack.enter_context(lead)
    return Helm(monitor, ByGroup(executors), groups=leads, epoch=lambda group: leads[group].epoch)


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
        folder=consumers_folder(bootstrap) / re.sub(r"[^\w.-]", "_", group.name),
    )

    def members() -> Members | None:
        seen = monitor.members(group.name)
        if seen is None:
            return None
        return Members(steady=seen.settled, owned={c: frozenset(held) for c, held in seen.assignment.owned().items()})

    planned = Assignor(group.assignor) is Assignor.PLANNED
    return GroupExecutor(group=group.name, board=board if planned else None, fleet=fleet, members=members)


def _common_environment(settings: LiveSettings, group: WatchedSettings, bootstrap: str) -> dict[str, str]:
    """What a consumer process must know to take part."""
    return {
        "SLUICE_BOOTSTRAP": bootstrap,
        "SLUICE_GROUP": group.name,
        "SLUICE_TOPICS": ",".join(group.topics),
        "SLUICE_MODE": group.mode,
        "SLUICE_FROM_START": str(group.from_start).lower(),
        **(
            {"SLUICE_CLIENT": ",".join(f"{key}={value}" for key, value in settings.kafka.client.items())}
            if settings.kafka.client
            else {}
        ),
    }
