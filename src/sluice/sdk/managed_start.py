"""Puts a managed consumer together from its settings."""

from collections.abc import Callable
from threading import Event as Flag

from sluice.model.telemetry import Telemetry
from sluice.sdk.age import process_age_s
from sluice.sdk.batching import Batch, Gathered
from sluice.sdk.connect import connect
from sluice.sdk.handler import Worker
from sluice.sdk.managed import ManagedConsumer
from sluice.sdk.managed_commit import Committer
from sluice.sdk.managed_control import Control
from sluice.sdk.managed_data import DataClient
from sluice.sdk.managed_lookup import GroupOffsets, OffsetLookup
from sluice.sdk.managed_tenure import Tenure
from sluice.sdk.meter import Meter
from sluice.sdk.reporter import Reporter
from sluice.sdk.settings import ConsumerSettings


def run_managed(
    settings: ConsumerSettings, *, worker: Worker, meter: Meter, batch: Batch, stop: Flag, clock: Callable[[], float]
) -> None:
    """Connect, say that we are ready, and work until told to stop."""
    admin = connect(settings)
    tenure = Tenure(consumer=settings.consumer, instance=settings.instance, lease_s=settings.lease_s)
    data = DataClient(settings)
    offsets = GroupOffsets(settings)
    consumer = ManagedConsumer(
        data=data,
        lookup=OffsetLookup(offsets),
        worker=worker,
        meter=meter,
        gathered=Gathered(batch),
        max_poll_events=settings.max_poll_events,
        clock=clock,
        stop=stop,
    )
    committer = Committer(settings, group_metadata=data.group_metadata(), may_commit=consumer.may_work)
    control = Control(settings, admin, tenure=tenure, clock=clock)
    consumer.join(control, committer)

    def telemetry() -> Telemetry:
        held = control.held()
        return meter.report(
            group=settings.group,
            consumer=settings.consumer,
            run=settings.instance,
            owned=held,
            committed=dict(committer.confirmed),
            epoch=max(held.values(), default=0),
        )

    reporter = Reporter(settings, admin, telemetry)
    committer.start()
    data.warm_up()
    control.start()
    meter.startup_s = process_age_s()
    reporter.start()
    try:
        consumer.run()
    finally:
        reporter.close()
        offsets.close()
