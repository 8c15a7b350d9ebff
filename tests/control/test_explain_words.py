"""When a decision was taken, for people."""

from sluice.control.explain import when


def test_live_decisions_have_a_date_and_simulated_ones_a_time_since_the_beginning() -> None:
    assert when(12.5) == "12.5 s"
    assert when(1_700_000_000.25) == "2023-11-14 22:13:20 UTC"
