"""What a scale-down costs in a live consumer group: the heartbeat, the protocol, and a plan that is announced."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from signal import SIGTERM

import pytest
from tests.live.group_rig import STANDING_S, Feed, Group, publish, wait_for_owners, wait_until

from sluice.broker import Broker
from sluice.execute.board import PlanBoard
from sluice.execute.plan_server import PlanServer
from sluice.sdk.group_settings import GroupSettings

PARTITIONS = 4
BUSY_S = 1.5
# Without `watch` it is the published mechanism: a heartbeat tells of the leaver, and the leader asks for the plan then.
CASES = {
    "eager, heartbeat 3 s": GroupSettings(rebalance="eager", heartbeat_s=3.0, watch=False),
    "eager, heartbeat 0.5 s": GroupSettings(rebalance="eager", heartbeat_s=0.5, watch=False),
    "cooperative, heartbeat 3 s": GroupSettings(rebalance="cooperative", heartbeat_s=3.0, watch=False),
    "cooperative, heartbeat 0.5 s": GroupSettings(rebalance="cooperative", heartbeat_s=0.5, watch=False),
    "cooperative, heartbeat 3 s, plan announced": GroupSettings(rebalance="cooperative", heartbeat_s=3.0),
}
BUSY = ("eager, heartbeat 0.5 s", "cooperative, heartbeat 0.5 s")
# Two members show the heartbeat; the busy one needs somebody else to disturb.
STAYING = {name: {"c0": [0], "c1": [1], "c2": [2]} if name in BUSY else {"c0": [0, 1, 2]} for name in CASES}


@pytest.fixture
def board() -> PlanBoard:
    return PlanBoard(max_age_s=STANDING_S)


@pytest.fixture
def groups(
    broker: Broker, make_topic: Callable[..., str], unique: Callable[[str], str], tmp_path: Path, board: PlanBoard
) -> Iterator[dict[str, Group]]:
    """All cases side by side: the waits are long, the work is little."""
    with PlanServer(board) as server:
        made = {
            name: Group(
                bootstrap=broker.bootstrap,
                group=unique("down"),
                topic=make_topic(PARTITIONS),
                folder=tmp_path,
                settings=settings,
                controller=server.url,
                held=1,
            )
            for name, settings in CASES.items()
        }
        feed = Feed(broker.bootstrap, [group.topic for group in made.values()], PARTITIONS, 20.0)
        try:
            yield made
        finally:
            feed.stop()
            for group in made.values():
                group.close()


def test_worst_latency_of_a_scale_down(
    groups: dict[str, Group], board: PlanBoard, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, group in groups.items():
        publish(board, group, **STAYING[name], c3=[3])
        group.start(*STAYING[name])
    for group in groups.values():
        wait_until(partial(_all_read, group), 60.0, group.group)
    moved_s = _leave_right_after_joining(groups, board)
    kept_s = {name: _leave_while_another_is_busy(groups[name], board) for name in BUSY}
    with capsys.disabled():
        print("\nworst latency of a scale-down      leaver's partition   another's, one member busy")
        for name in CASES:
            kept = f"{kept_s[name]:.2f} s" if name in kept_s else ""
            print(f"  {name:45} {moved_s[name]:5.2f} s {kept:>15}")
    eager_3, eager_05, cooperative_3, cooperative_05, announced = (moved_s[name] for name in CASES)
    assert eager_3 > eager_05
    assert cooperative_3 > cooperative_05
    # The plan is announced to everybody and the leaver works until the others have taken over: no heartbeat in it.
    assert cooperative_3 > announced
    eager_kept, cooperative_kept = (kept_s[name] for name in BUSY)
    assert eager_kept > 0.6 * BUSY_S > cooperative_kept


def _leave_right_after_joining(groups: dict[str, Group], board: PlanBoard) -> dict[str, float]:
    """c3 joins, and leaves at once: heartbeats begin anew with every join, so the next one is a whole interval away."""
    for group in groups.values():
        group.start("c3")
    left_s: dict[str, float] = {}

    def step() -> bool:
        for name, group in groups.items():
            if name not in left_s and group.owners().get(3) == {"c3"}:
                publish(board, group, **{**STAYING[name], "c0": [*STAYING[name]["c0"], 3]})
                left_s[name] = time.time()
                group.signal("c3", SIGTERM)
        return len(left_s) == len(groups)

    wait_until(step, 60.0, f"all have joined: {left_s}")
    for group in groups.values():
        wait_until(partial(_has_taken_over, group), 15.0, group.group)
    return {
        name: max(n.latency_s for n in group.notes() if n.partition == 3 and n.arrived_s > left_s[name] - 0.5)
        for name, group in groups.items()
    }


def _all_read(group: Group) -> bool:
    return set(group.owners()) == set(range(PARTITIONS))


def _has_taken_over(group: Group) -> bool:
    return group.owners().get(3) == {"c0"}


def _leave_while_another_is_busy(group: Group, board: PlanBoard) -> float:
    wait_for_owners(group, c0=[0, 3], c1=[1], c2=[2])
    group.hold.touch()
    time.sleep(0.3)
    publish(board, group, c0=[0, 2, 3], c1=[1])
    left_s = time.time()
    group.signal("c2", SIGTERM)
    time.sleep(0.5 + BUSY_S)
    group.hold.unlink()
    wait_for_owners(group, c0=[0, 2, 3], c1=[1])
    return max(n.latency_s for n in group.notes() if n.partition == 0 and n.arrived_s > left_s)
