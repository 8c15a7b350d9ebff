"""Sends prepared events at their times: `python -m sluice.lab.live.producer BOOTSTRAP FILE`.

Says "ready" when it is connected, reads when to begin (seconds since 1970), writes down beside FILE when each event was
really sent, and ends when the broker has everything. A process of its own: what it sends when must not depend on what
the controller does.
"""

import sys
import time

import numpy as np
from confluent_kafka import Producer

from sluice.lab.live.parent import end_with_parent

# A client sends a burst partition by partition. An idle consumer would get all of one partition before the first event
# of the next, and take that for a batch of its own; in the scenario a burst deals its events out in turn. So of each
# burst every partition's first event goes ahead by this time.
AHEAD_S = 0.002


def sent_file(file: str) -> str:
    return f"{file}.sent.npy"


def main(bootstrap: str, file: str) -> None:
    end_with_parent()
    with np.load(file) as data:
        topics = [str(name) for name in data["topics"]]
        time_s, topic, partition = data["time_s"].tolist(), data["topic"].tolist(), data["partition"].tolist()
        size_bytes = data["size_bytes"].tolist()
    payload = b"x" * max(size_bytes, default=0)
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "linger.ms": 0,
            # In their order, whatever has to be sent again: the n-th event of a partition has offset n.
            "enable.idempotence": True,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    producer.list_topics(timeout=20)
    # The first record of a topic finds its leader; that must not delay the first event.
    for name in topics:
        producer.list_topics(name, timeout=20)
    print("ready", flush=True)
    start_s = float(sys.stdin.readline())
    sent_s: list[float] = []
    ahead: set[tuple[int, int]] | None = set()
    for due_s, which, number, size in zip(time_s, topic, partition, size_bytes, strict=True):
        wait_s = start_s + due_s - time.time()
        if wait_s > 0:
            producer.poll(0)
            time.sleep(max(start_s + due_s - time.time(), 0.0))
            ahead = set()
        if ahead is not None:
            if (which, number) in ahead:
                time.sleep(AHEAD_S)
                ahead = None
            else:
                ahead.add((which, number))
        sent_s.append(time.time())
        producer.produce(topics[which], payload[:size], partition=number)
    np.save(sent_file(file), np.array(sent_s))
    if producer.flush(60):
        sys.exit("the broker did not take all events")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
