"""The counters a consumer reports, against sums made by hand and numpy's own quantiles."""

import time

import numpy as np
import pytest

from sluice.model import Partition
from sluice.model.telemetry import Begun, Telemetry
from sluice.sdk.event import Event
from sluice.sdk.meter import Meter

P, Q = Partition("orders", 0), Partition("orders", 1)


def test_counters_are_the_sums() -> None:
    now = 1e9
    meter = Meter(wall_clock=lambda: now)
    first = [Event(P, 0, b"k", b"123", now - 3.0), Event(Q, 0, None, b"4567", now - 5.0)]
    meter.polled(2)
    meter.record(first, begun_s=100.0, ended_s=[100.01, 100.54], waited_s={1: 0.5}, now_s=100.54)
    meter.polled(1)
    meter.record([Event(P, 1, None, None, now - 2.5)], begun_s=200.0, ended_s=[200.02], now_s=200.02)
    assert (meter.processed_events, meter.processed_bytes, meter.batches, meter.batch_events2) == (3, 8, 2, 5)
    assert meter.busy_s == pytest.approx(0.06)
    assert meter.busy_s2 == pytest.approx(0.01**2 + 0.03**2 + 0.02**2)
    assert meter.latency_s == pytest.approx(2.47 + 5.0 + 2.5)
    # Arrivals in their own order: -5, -3, -2.5.
    assert meter.gap_s == pytest.approx(2.5, abs=1e-5)
    assert meter.gap_s2 == pytest.approx(4.25, abs=1e-5)


def test_latency_quantiles_agree_with_numpy() -> None:
    draws = np.random.default_rng(1).lognormal(-3, 1.5, 20_000)
    now = 1e9
    meter = Meter(wall_clock=lambda: now)
    for part in np.array_split(draws, 40):
        meter.record([Event(P, 0, None, b"", now - x) for x in part], begun_s=9.0, ended_s=[9.0] * len(part), now_s=9.0)
    sketch = meter.report(group="g", consumer="c", run="r", owned=[], committed={}).latency
    assert sketch.total == 20_000
    for ratio in (0.5, 0.9, 0.99):
        assert sketch.quantile_s(ratio) == pytest.approx(np.quantile(draws, ratio), rel=0.05)


def test_what_has_no_timestamp_is_processed_but_has_no_latency() -> None:
    meter = Meter()
    meter.record([Event(P, 0, None, b"", float("nan"))], begun_s=1.0, ended_s=[1.01], now_s=1.01)
    assert meter.processed_events == 1
    assert meter.latency_s == 0.0
    assert meter.report(group="g", consumer="c", run="r", owned=[], committed={}).latency.total == 0


def test_a_report_names_what_is_owned_and_survives_the_wire() -> None:
    meter = Meter()
    meter.positions.update({P: 5})
    meter.begun.update({P: Begun(None, 8.5), Q: Begun(3, 9.5), Partition("orders", 2): Begun(1, 7.0)})
    meter.record(
        [Event(P, 3, None, b"x", 1.0), Event(P, 4, None, b"x", time.time() - 1e7)],
        begun_s=1.0,
        ended_s=[1.0, 1.01],
        now_s=1.01,
    )
    report = meter.report(group="g", consumer="c0", run="r1", owned=[P, Q], committed={P: 3}, epoch=7)
    assert report.positions == {P: 5, Q: None}
    # Where nothing was committed before, the first event handled tells where the consumer began.
    assert report.begun == {P: Begun(3, 8.5), Q: Begun(3, 9.5)}
    assert Telemetry.from_wire(report.to_wire()) == report
