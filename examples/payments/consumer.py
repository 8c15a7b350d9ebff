"""Handles payments, one at a time: 5 ms each, as if a bank had to be asked."""

import time

from sluice.sdk import Event, run


def handle(event: Event) -> None:
    time.sleep(0.005)


if __name__ == "__main__":
    run(handle)
