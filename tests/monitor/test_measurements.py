"""A stream of measurements as the load of a group: its speeds are what a policy gets, silence is unknown."""

from pathlib import Path

import numpy as np
import pytest

from sluice.analyze.window import WindowAnalyzer
from sluice.errors import InputError
from sluice.model import Action, Assignment, Decision, Partition, Plan, Reason, Receipt, Snapshot
from sluice.model.values import floats
from sluice.monitor.measured import MeasuredMonitor, Measurement, MeasurementFile

ONE, TWO = Partition("t", 0), Partition("t", 1)


def measurement(time_s: float, *speeds: float) -> Measurement:
    return Measurement(since_s=time_s - 30.0, time_s=time_s, speed_bps=dict(zip((ONE, TWO), speeds, strict=False)))


class Broker:
    """A monitor that sees a group nobody writes to."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def observe(self) -> tuple[Snapshot, ...]:
        nothing = floats([0.0, 0.0])
        return tuple(
            Snapshot(
                group=group,
                time_s=self.now_s,
                assignment=Assignment.of({"c0": (ONE, TWO)}),
                end_events=nothing,
                committed_events=nothing,
                end_bytes=nothing,
            )
            for group in ("told", "seen")
        )


class Stream:
    def __init__(self) -> None:
        self.now: Measurement | None = None

    def newest(self) -> Measurement | None:
        return self.now

    def close(self) -> None:
        pass


class Loop:
    """Looks and analyzes, as the loop does."""

    def __init__(self) -> None:
        self.broker, self.stream = Broker(), Stream()
        self.monitor = MeasuredMonitor(self.broker, {"told": self.stream}, stale_s=60.0)
        self._analyzer = WindowAnalyzer(window_s=0.05)
        self._recent: list[Decision] = []

    def speeds(self, passed_s: float = 0.1) -> list[float] | None:
        self.broker.now_s += passed_s
        told, seen = self.monitor.observe()
        assert seen.end_bytes is not None
        assert seen.end_bytes.tolist() == [0.0, 0.0], "a group without a stream is as the broker shows it"
        workload = self._analyzer.analyze(told, self._recent)
        held = Plan(
            group="told",
            time_s=told.time_s,
            policy="",
            action=Action.HOLD,
            current=told.assignment,
            target=told.assignment,
            reason=Reason(""),
        )
        receipt = Receipt(time_s=told.time_s, action=Action.HOLD)
        self._recent.append(Decision(tick=0, snapshot=told, workload=workload, plan=held, receipt=receipt))
        return None if workload.arrival_bps is None else workload.arrival_bps.tolist()


def test_the_rate_of_a_look_is_the_newest_measurement_whatever_the_time_between_looks() -> None:
    loop = Loop()
    assert np.isnan(loop.speeds() or [np.nan]).all(), "nothing was measured yet"
    loop.stream.now = measurement(1000.0, 70.0, 5.0)
    loop.speeds()
    for passed_s in (0.1, 3.0, 0.25):
        assert loop.speeds(passed_s) == pytest.approx([70.0, 5.0])
    loop.stream.now = measurement(1004.0, 20.0, 0.0)
    assert loop.speeds() == pytest.approx([20.0, 0.0])
    assert loop.monitor.newest("told") == loop.stream.now


def test_silence_and_what_is_left_out_are_unknown() -> None:
    loop = Loop()
    loop.stream.now = measurement(1000.0, 70.0, 5.0)
    loop.speeds()
    loop.stream.now = measurement(1000.2, 70.0)
    first, second = loop.speeds() or []
    assert first == pytest.approx(70.0)
    assert np.isnan(second)
    loop.broker.now_s += 61.0
    assert np.isnan(loop.speeds() or []).all()
    loop.stream.now = measurement(loop.broker.now_s, 8.0, 9.0)
    loop.speeds()
    assert loop.speeds() == pytest.approx([8.0, 9.0])


def test_a_measurement_is_the_same_after_writing_and_reading() -> None:
    made = Measurement(since_s=1.5, time_s=31.5, speed_bps={Partition("a", 3): 12.5, Partition("b", 0): 0.0})
    assert Measurement.from_json(made.to_json()) == made


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "no measurement"),
        (b"[]", "no measurement"),
        (b'{"since_s": 1, "time_s": 2}', "speed_bps"),
        (b'{"since_s": 3, "time_s": 2, "speed_bps": {}}', "the earlier first"),
        (b'{"since_s": 1, "time_s": 2, "speed_bps": {"t": {"0": -1}}}', "at least 0"),
        (b'{"since_s": 1, "time_s": 2, "speed_bps": {"t": {"x": 1}}}', "no measurement"),
        (b'{"since_s": 1, "time_s": 2, "speed_bps": {"t": {"0": NaN}}}', "at least 0"),
    ],
)
def test_what_is_no_measurement_is_refused(text: bytes, told: str) -> None:
    with pytest.raises(InputError, match=told):
        Measurement.from_json(text)


def test_a_file_that_grows_is_read_on_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "speeds.jsonl"
    with pytest.raises(InputError, match="is no file"):
        MeasurementFile(path)
    path.touch()
    stream = MeasurementFile(path)
    assert stream.newest() is None
    one, two = measurement(10.0, 1.0, 2.0), measurement(20.0, 3.0, 4.0)
    with path.open("ab") as file:
        file.write(one.to_json() + b"\nrubbish\n" + two.to_json()[:20])
    assert stream.newest() == one
    with path.open("ab") as file:
        file.write(two.to_json()[20:] + b"\n")
    assert stream.newest() == two
    path.unlink()
    assert stream.newest() == two, "what was known stays, and grows old"
