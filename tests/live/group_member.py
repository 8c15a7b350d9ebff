"""A group consumer as a process of its own: notes every event it has handled in a file.

`NOTES` is that file, `SERVICE_S` the time an event takes. While the file `HOLD` exists, an event of the partition
`HELD` (a number) stays in the handler: a member that is busy.
"""

import os
import signal
import threading
import time
from pathlib import Path

from sluice.sdk.batching import Batch
from sluice.sdk.event import Event
from sluice.sdk.failure import OnError
from sluice.sdk.group_settings import GroupSettings
from sluice.sdk.group_start import group_consumer
from sluice.sdk.handler import EventWorker
from sluice.sdk.meter import Meter
from sluice.sdk.settings import ConsumerSettings


def main() -> None:
    service_s = float(os.environ["SERVICE_S"])
    hold, held = Path(os.environ["HOLD"]), int(os.environ["HELD"])
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with Path(os.environ["NOTES"]).open("a", buffering=1) as notes:

        def handle(event: Event) -> None:
            time.sleep(service_s)
            while event.partition.number == held and hold.exists():
                time.sleep(0.01)
            notes.write(f"{event.partition.number} {event.offset} {event.timestamp_s} {time.time()}\n")

        meter = Meter()
        worker = EventWorker(handle, meter=meter, on_error=OnError(), dead_letter=lambda *_: None, clock=time.monotonic)
        consumer, _ = group_consumer(
            ConsumerSettings.from_environment(os.environ),
            GroupSettings.from_environment(os.environ),
            worker=worker,
            meter=meter,
            batch=Batch(),
            stop=stop,
        )
        consumer.run()


if __name__ == "__main__":
    main()
