"""The controller's state machine: every sequence of events keeps the rules; the ordinary course is the drawn one."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.control.state import Standing, State
from sluice.model import Action

LIMIT_S = 10.0
looks = st.fixed_dictionaries(
    {
        "epoch": st.sampled_from([None, 1, 1, 1, 2]),
        "known": st.sampled_from([True, True, False]),
        "settled": st.booleans(),
    }
)
ticks = st.lists(st.tuples(looks, st.sampled_from(list(Action)), st.booleans()), max_size=40)


def seen(standing: Standing, time_s: float, *, settled: bool) -> Standing:
    return standing.observed(time_s=time_s, epoch=standing.epoch, known=True, settled=settled, limit_s=LIMIT_S)


@given(ticks=ticks)
def test_it_acts_only_as_a_leader_that_has_just_seen_a_settled_group(
    ticks: list[tuple[dict[str, object], Action, bool]],
) -> None:
    standing = Standing(since_s=0.0)
    for number, (look, action, complete) in enumerate(ticks):
        time_s = float(number)
        before = standing
        epoch, known, settled = look["epoch"], bool(look["known"]), bool(look["settled"])
        assert epoch is None or isinstance(epoch, int)
        standing = standing.observed(time_s=time_s, epoch=epoch, known=known, settled=settled, limit_s=LIMIT_S)
        if epoch is None or not known or epoch != before.epoch:
            assert standing.state is State.SYNCHRONIZE
        if standing.state is not before.state and standing.state is State.SENTINEL:
            assert settled
            assert known
            assert epoch == before.epoch
        looked = standing
        standing = standing.planned(action, time_s)
        if standing.state is State.REASSIGN:
            assert looked.state is State.SENTINEL
            assert action is not Action.HOLD
            assert looked.epoch == epoch
            assert epoch is not None
        standing = standing.applied(complete=complete, time_s=time_s)
        assert standing.state is not State.REASSIGN, "a plan is handed over in the tick it was made"


def test_the_ordinary_course() -> None:
    standing = Standing(since_s=0.0, epoch=7)
    standing = seen(standing, 0.0, settled=False)
    assert standing.state is State.SYNCHRONIZE
    standing = seen(standing, 1.0, settled=True)
    assert standing.state is State.SENTINEL
    assert standing.planned(Action.HOLD, 1.0).state is State.SENTINEL
    standing = standing.planned(Action.UP, 2.0)
    assert standing.state is State.REASSIGN
    standing = standing.applied(complete=False, time_s=2.0)
    assert standing.state is State.MANAGE
    # The group looks settled while the executor still starts a consumer: the change is not over.
    assert seen(standing, 3.0, settled=True).state is State.MANAGE
    standing = standing.applied(complete=True, time_s=4.0)
    # Handed over whole, yet not to be seen in the group: not over either.
    assert seen(standing, 5.0, settled=False).state is State.MANAGE
    assert seen(standing, 5.0, settled=True).state is State.SENTINEL


def test_a_change_that_never_gets_done_does_not_block_for_ever() -> None:
    standing = Standing(state=State.MANAGE, since_s=0.0, epoch=1, done=False)
    assert seen(standing, 9.0, settled=True).state is State.MANAGE
    assert seen(standing, 11.0, settled=False).state is State.MANAGE
    assert seen(standing, 11.0, settled=True).state is State.SENTINEL
