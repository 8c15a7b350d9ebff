"""A group consumer as a process of its own: notes every event it has handled in a file.

`NOTES` is that file, `SERVICE_S` the time an event takes. While the file `HOLD` exists, an event of the partition
`HELD` (a number) stays in the handler: a member that is busy.
"""

import os
import time
from pathlib import Path

from sluice.sdk import Event, run

_service_s = float(os.environ["SERVICE_S"])
_hold, _held = Path(os.environ["HOLD"]), int(os.environ["HELD"])


def main() -> None:
    with Path(os.environ["NOTES"]).open("a", buffering=1) as notes:

        def handle(event: Event) -> None:
            time.sleep(_service_s)
            while event.partition.number == _held and _hold.exists():
                time.sleep(0.01)
            notes.write(f"{event.partition.number} {event.offset} {event.timestamp_s} {time.time()}\n")

        run(handle)


if __name__ == "__main__":
    main()
