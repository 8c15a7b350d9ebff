"""Puts a group consumer together from its settings."""

import os
from threading import Event as Flag
from typing import Any

from sluice.errors import InputError
from sluice.model.telemetry import Telemetry
from sluice.sdk import group_private
from sluice.sdk.batching import Batch, Gathered
from sluice.sdk.connect import connect
from sluice.sdk.group import GroupConsumer
from sluice.sdk.group_assignor import PlannedAssignor
from sluice.sdk.group_client import GroupClient
from sluice.sdk.group_connect import KAFKAS_OWN, connect_member
from sluice.sdk.group_settings import Assignor, GroupSettings
from sluice.sdk.group_source import PlanSource, make_source
from sluice.sdk.group_watch import PlanWatch
from sluice.sdk.handler import Worker
from sluice.sdk.meter import Meter
from sluice.sdk.reporter import Reporter
from sluice.sdk.settings import ConsumerSettings


def run_group(settings: ConsumerSettings, *, worker: Worker, meter: Meter, batch: Batch, stop: Flag) -> None:
    """Connect, join the group, and work until told to stop."""
    admin = connect(settings)
    group = GroupSettings.from_environment(os.environ)
    consumer, client = _group_consumer(settings, group, worker=worker, meter=meter, batch=batch, stop=stop)

    def telemetry() -> Telemetry:
        return meter.report(
            group=settings.group,
            consumer=settings.consumer,
            run=settings.instance,
            owned=client.owned,
            committed=dict(client.confirmed),
        )

    reporter = Reporter(settings, admin, telemetry)
    reporter.start()
    try:
        consumer.run()
    finally:
        reporter.close()


def _group_consumer(
    settings: ConsumerSettings, group: GroupSettings, *, worker: Worker, meter: Meter, batch: Batch, stop: Flag
) -> tuple[GroupConsumer, GroupClient]:
    """The consumer, connected and not yet a member, and its client."""
    source: PlanSource | None = None
    connected: list[Any] = []
    if group.assignor == Assignor.PLANNED:
        if settings.controller is None:
            raise InputError(
                "controller is missing; give http://HOST:PORT or a file, or a SLUICE_GROUP_ASSIGNOR of Kafka's own"
            )
        source = make_source(settings.controller, settings.group)
        assignor: Any = PlannedAssignor(
            consumer=settings.consumer,
            source=source,
            cooperative=group.cooperative,
            ask_limit_s=group.ask_limit_s,
            # The assignor is part of the consumer it asks to join anew.
            rejoin=lambda: group_private.request_rejoin(connected[0]),
        )
    else:
        assignor = KAFKAS_OWN[group.assignor]()
    connected.append(connect_member(settings, group, assignor))
    client = GroupClient(
        connected[0],
        topics=settings.topics,
        assignor=assignor,
        cooperative=group.cooperative,
        session_s=group.session_s,
        positions=meter.positions,
        begun=meter.begun,
    )
    consumer = GroupConsumer(
        name=settings.consumer,
        settings=group,
        client=client,
        worker=worker,
        meter=meter,
        gathered=Gathered(batch),
        max_poll_events=settings.max_poll_events,
        stop=stop,
        watch=PlanWatch(source) if source is not None and group.watch else None,
    )
    return consumer, client
