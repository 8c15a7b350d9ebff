"""Telemetry reports: the same after a trip over the wire, and strangers are refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InputError
from sluice.model.assignment import Partition
from sluice.model.sketch import LatencySketch
from sluice.model.telemetry import Begun, Telemetry, telemetry_topic

partitions = st.builds(Partition, st.text(min_size=1, max_size=8), st.integers(0, 10_000))
numbers = st.floats(min_value=0, max_value=1e12)


@given(
    positions=st.dictionaries(partitions, st.none() | st.integers(0, 2**53)),
    committed=st.dictionaries(partitions, st.integers(0, 2**53)),
    counters=st.fixed_dictionaries({"processed_events": numbers, "busy_s": numbers, "gap_s2": numbers}),
    latencies=st.lists(st.floats(0, 100)),
    pause_s=st.none() | numbers,
    epoch=st.integers(0, 2**53),
    left=st.booleans(),
)
def test_a_report_is_the_same_after_the_wire(
    positions: dict[Partition, int | None],
    committed: dict[Partition, int],
    counters: dict[str, Any],
    latencies: list[float],
    pause_s: float | None,
    epoch: int,
    left: bool,
) -> None:
    report = Telemetry(
        group="payments",
        consumer="c0",
        run="a1",
        time_s=12.5,
        epoch=epoch,
        positions=positions,
        committed=committed,
        begun={p: Begun(offset, epoch / 8) for p, offset in positions.items()},
        latency=LatencySketch.of(latencies),
        pause_s=pause_s,
        left=left,
        **counters,
    )
    assert Telemetry.from_wire(report.to_wire()) == report


def test_a_report_of_five_hundred_partitions_fits_a_message() -> None:
    positions = {Partition("payments", n): 10**12 + n for n in range(500)}
    report = Telemetry(group="g", consumer="c0", run="a", time_s=0.0, positions=positions)
    assert len(report.to_wire()) < 16_384


@pytest.mark.parametrize(
    "message",
    [b"", b"\xff\x00", b"[]", b"1", b"{}", b'{"v":1}', b'{"v":1,"latency":[[1],["x"]]}', b'{"v":1,"latency":7}'],
)
def test_a_message_that_is_no_report_is_refused(message: bytes) -> None:
    with pytest.raises(InputError, match="not a telemetry report"):
        Telemetry.from_wire(message)


def test_a_report_of_another_version_says_so() -> None:
    data = json.loads(Telemetry(group="g", consumer="c0", run="a", time_s=0.0).to_wire())
    with pytest.raises(InputError, match="telemetry of version 2; this program reads 1"):
        Telemetry.from_wire(json.dumps({**data, "v": 2}).encode())


def test_each_group_reports_to_a_topic_of_its_own() -> None:
    assert telemetry_topic("payments") == "__sluice.payments.telemetry"
