"""A consumer that fails again and again is started less and less often."""

from sluice.execute.retries import FORGIVEN_S, Retries


def first_start_s(retries: Retries, consumer: str, now_s: float) -> float:
    return next(s for s in (now_s + n * 0.25 for n in range(200)) if retries.may_start(consumer, s)) - now_s


def test_the_wait_doubles_up_to_a_limit_and_is_forgiven() -> None:
    retries = Retries()
    assert first_start_s(retries, "c0", 0.0) == 0.0
    waits = []
    for number in range(7):
        now_s = 100.0 + 20 * number
        retries.failed("c0", now_s)
        waits.append(first_start_s(retries, "c0", now_s))
    assert waits == [0.5, 1, 2, 4, 8, 16, 16]
    assert first_start_s(retries, "c1", 220.0) == 0.0, "of no concern to others"
    retries.failed("c0", 220.0 + FORGIVEN_S)
    assert first_start_s(retries, "c0", 220.0 + FORGIVEN_S) == 0.5
    retries.forgive("c0")
    assert first_start_s(retries, "c0", 220.0 + FORGIVEN_S) == 0.0, "it has succeeded"
