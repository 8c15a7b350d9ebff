"""A measurement stream drives the controller of real consumers, and one consumer's capacity is measured."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from confluent_kafka import Producer
from tests.live.processes_end import module_environment

from sluice.broker import Broker
from sluice.lab.live.capacity import Cycle, bench_capacity
from sluice.lab.live.response import bench_response
from sluice.model import Partition
from sluice.monitor.measured import Measurement, MeasurementTopic


@pytest.fixture(autouse=True)
def _modules(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert own_cache.is_dir()
    monkeypatch.setenv("PYTHONPATH", module_environment()["PYTHONPATH"])


def test_a_stream_of_measurements_scales_up_and_down_and_the_times_are_taken(broker: Broker, tmp_path: Path) -> None:
    speeds = np.array([[30.0, 30.0, 10.0, 10.0], [90.0, 60.0, 30.0, 10.0], [10.0, 10.0, 10.0, 10.0]])
    begun_s = time.monotonic()
    changes = bench_response(
        speeds, capacity=100.0, policy="mwf", bootstrap=broker.bootstrap, folder=tmp_path, interval_s=1.0
    )
    up, down = changes
    # 80 fit into one consumer; 190 need two, and these four speeds can be had in two or, with fewer moves, in three.
    assert (up.step, down.step) == (1, 2)
    assert up.consumers in (2, 3)
    assert up.started == up.consumers - 1
    assert down.consumers == 1
    assert down.started == 0
    assert down.starting_s is None
    assert up.starting_s is not None
    for change in changes:
        assert change.moved >= 1
        # A measurement tells of its whole interval.
        assert change.measuring_s >= 1.0
        assert change.deciding_s > 0
        assert change.handing_over_s is not None
        assert 0 < change.handing_over_s < change.whole_s
        # Parts of the time that has passed, one after the other.
        assert change.whole_s < time.monotonic() - begun_s


def test_the_last_measurement_of_a_topic_is_in_force_and_rubbish_is_passed_over(
    broker: Broker, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(1)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    made = [Measurement(since_s=0.0, time_s=k, speed_bps={Partition("t", 0): float(k)}) for k in range(3)]
    for each in made[:2]:
        producer.produce(topic, each.to_json())
    producer.flush(10)
    stream = MeasurementTopic(broker.bootstrap, topic, client={}, limit_s=5.0)
    try:
        assert _eventually(stream, made[1]) == [made[1]]
        producer.produce(topic, b"rubbish")
        producer.produce(topic, made[2].to_json())
        producer.produce(topic, made[0].to_json())  # late: what is known is newer
        producer.flush(10)
        assert _eventually(stream, made[2])[-1] == made[2]
        for _ in range(20):
            time.sleep(0.05)
            assert stream.newest() == made[2]
    finally:
        stream.close()


def _eventually(stream: MeasurementTopic, wanted: Measurement) -> list[Measurement]:
    """What was in force until the wanted one was."""
    seen: list[Measurement] = []
    deadline_s = time.monotonic() + 20.0
    while time.monotonic() < deadline_s:
        newest = stream.newest()
        if newest is not None and newest not in seen:
            seen.append(newest)
        if newest == wanted:
            break
        time.sleep(0.05)
    return seen


def test_the_capacity_of_a_consumer_is_that_of_its_sink(broker: Broker, tmp_path: Path) -> None:
    cycle = Cycle(sink_bps=1_000_000.0, batch_bytes=200_000, wait_s=0.5)
    found = bench_capacity((1, 6), (2000,), cycle=cycle, seconds=1.6, bootstrap=broker.bootstrap, folder=tmp_path)
    assert [(each.partitions, each.size_bytes, each.events) for each in found] == [(1, 2000, 800), (6, 2000, 800)]
    for each in found:
        assert each.cycles >= 4
        # Never faster than the sink; slower by what reading and committing costs this machine.
        assert 0.5 < each.capacity_bps / cycle.sink_bps <= 1.0
        assert each.capacity_eps == pytest.approx(each.capacity_bps / 2000)
