"""Random faults in virtual time: never two owners, no commit goes back, and the target is reached afterwards."""

from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.execute.protocol_world import World

from sluice.model import Assignment, Partition

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def target_of(world: World, owners: list[int]) -> Assignment:
    names = sorted({f"c{o}" for o in owners})
    owned: dict[str, list[Partition]] = {name: [] for name in names}
    for partition, owner in zip(world.partitions, owners, strict=True):
        owned[f"c{owner}"].append(partition)
    return Assignment.of(owned, partitions=world.partitions)


targets = st.lists(st.integers(0, 3), min_size=4, max_size=4)


@given(seed=st.integers(0, 10**6), first=targets, second=targets)
@SLOW
def test_without_faults_each_target_is_reached(seed: int, first: list[int], second: list[int]) -> None:
    world = World(4, seed)
    controller = world.new_controller()
    for owners in (first, second, second):
        target = target_of(world, owners)
        controller.steward.aim(target, world.now_s)
        assert world.run(20.0, partial(world.reached, target))


KINDS = ["kill", "freeze", "wake", "kill controller", "freeze controller", "controller", "cut", "broker"]
faults = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(0, 10),
        st.floats(0.0, 3.0),
    ),
    max_size=25,
)


@given(seed=st.integers(0, 10**6), plan=faults, first=targets, last=targets)
@SLOW
def test_faults_never_make_two_owners_and_the_group_recovers(
    seed: int, plan: list[tuple[str, int, float]], first: list[int], last: list[int]
) -> None:
    world = World(4, seed)
    world.new_controller().steward.aim(target_of(world, first), world.now_s)
    world.run(3.0)
    for what, which, wait_s in plan:
        strike(world, what, which)
        world.churn(wait_s)
    wake(world)
    world.broker_up = True
    target = target_of(world, last)
    leader = world.new_controller()
    for _ in range(30):
        # A control loop says every tick what it wants; one whose claim came too late claims again.
        if leader.steward.deposed:
            leader = world.new_controller()
        leader.steward.aim(target, world.now_s)
        if world.run(1.0, lambda: world.reached(target)):
            break
    else:
        raise AssertionError("the group did not recover")
    world.run(3.0)
    assert world.reached(target)


def wake(world: World) -> None:
    for consumer in world.consumers:
        consumer.frozen = consumer.cut = False
    for controller in world.controllers:
        controller.frozen = False


def strike(world: World, what: str, which: int) -> None:
    consumers = [c for c in world.consumers if c.alive]
    controllers = [c for c in world.controllers if c.alive]
    consumer = consumers[which % len(consumers)] if consumers else None
    controller = controllers[which % len(controllers)] if controllers else None
    if what == "kill" and consumer:
        consumer.alive = False
    elif what == "freeze" and consumer:
        consumer.frozen = True
    elif what == "wake":
        wake(world)
    elif what == "kill controller" and controller:
        controller.alive = False
    elif what == "freeze controller" and controller:
        controller.frozen = True
    elif what == "controller":
        world.new_controller()
    elif what == "cut" and consumer:
        consumer.cut = True
    elif what == "broker":
        world.broker_up = not world.broker_up
