"""Latency along paths: each event is held to the objective of the way it really took."""

from pathlib import Path

import numpy as np
import pytest
from tests.simulate.scripted import Kept, scripted

from sluice.assembly.loop import build_policy
from sluice.assembly.topology import build_topology
from sluice.control.replay import replay
from sluice.errors import InputError
from sluice.lab.experiment import run
from sluice.lab.library import find_scenario
from sluice.lab.outcome import simulated
from sluice.lab.promise import promises_of
from sluice.model import Action
from sluice.model.codec import decision_from_json, decision_to_json
from sluice.settings.scenario import PathSettings, Scenario
from sluice.simulate import (
    Even,
    FixedService,
    GroupSpec,
    Output,
    Poisson,
    Rates,
    RunResult,
    Source,
    WorldSpec,
    simulate,
)
from sluice.simulate.service import ExponentialService


def group(name: str, *topics: str, mean_s: float = 0.1, output: str | None = None) -> GroupSpec:
    return GroupSpec(
        name=name,
        topics=topics,
        service=FixedService(mean_s=mean_s),
        output=None if output is None else Output(topic=output, partitions=1),
    )


def source(topic: str, eps: float) -> Source:
    return Source(topic=topic, partitions=1, arrivals=Even(rates=Rates(eps=np.full(60, eps), step_s=1.0)))


# A long way in, a short way in, and two ways out; the last two stages serve at once, so no one waits but at the first.
#   slow: a (0.3 s) → m → x, quick: m → x, and both → y
DIAMOND = (
    group("a", "slow", mean_s=0.3, output="half"),
    group("m", "half", "quick", mean_s=0.001, output="merged"),
    group("x", "merged", mean_s=0.001),
    group("y", "merged", mean_s=0.002),
)


def results(spec: WorldSpec, *, exact: bool = True) -> dict[str, RunResult]:
    return simulate(
        spec, seed=1, make_loop=lambda monitor, executor: scripted({}, Kept(), monitor, executor), exact=exact
    )


@pytest.mark.parametrize("exact", [True, False])
def test_events_that_meet_in_a_stage_keep_the_way_they_came(exact: bool) -> None:
    limits = {("a", "m", "x"): 0.31, ("m", "x"): 0.0005, ("a", "m", "y"): 0.301}
    spec = WorldSpec(
        sources=(source("slow", 2.0), source("quick", 3.0)),
        groups=DIAMOND,
        duration_s=60.0,
        objective_s=0.5,
        path_objectives_s=limits,
    )
    found = results(spec, exact=exact)
    paths = {path.stages: path for name in ("x", "y") for path in found[name].paths}
    # 120 events come the long way, 180 the short one, and all of them go both ways out.
    assert {stages: path.events for stages, path in paths.items()} == {
        ("a", "m", "x"): 120,
        ("m", "x"): 180,
        ("a", "m", "y"): 120,
        ("m", "y"): 180,
    }
    # By hand: 0.3 + 0.001 + 0.001 s the long way to x, and 0.3 + 0.001 + 0.002 s to y; 0.3 s less the short way.
    assert {stages: path.sla_ratio for stages, path in paths.items()} == {
        ("a", "m", "x"): 1.0,
        ("m", "x"): 0.0,
        ("a", "m", "y"): 0.0,
        ("m", "y"): 1.0,
    }
    assert paths["a", "m", "x"].mean_s == pytest.approx(0.302, abs=0.002)
    assert paths["m", "y"].mean_s == pytest.approx(0.003, abs=0.002)
    assert [path.objective_s for path in found["x"].paths] == [0.31, 0.0005]
    # The stage as a whole counts each event by its own path; one in the middle ends none.
    assert found["x"].late_events == 180
    assert found["y"].late_events == 120
    assert found["m"].paths == ()
    assert found["a"].paths == ()


def test_two_ways_of_one_stage_add_up_to_the_stage() -> None:
    rates = Rates(eps=np.full(300, 40.0), step_s=1.0)
    noisy = tuple(Source(topic=topic, partitions=2, arrivals=Poisson(rates=rates)) for topic in ("slow", "quick"))
    groups = (
        GroupSpec(
            name="a", topics=("slow",), service=ExponentialService(mean_s=0.01), output=Output(topic="h", partitions=2)
        ),
        GroupSpec(name="m", topics=("h", "quick"), service=ExponentialService(mean_s=0.01), initial_consumers=2),
    )
    found = results(WorldSpec(sources=noisy, groups=groups, duration_s=300.0, objective_s=0.05))["m"]
    latencies = found.latencies.exact_s
    assert latencies is not None
    assert sum(path.events for path in found.paths) == found.events == len(latencies)
    assert found.late_events == int((latencies > 0.05).sum()) > 1000
    mean_s = sum(path.events * path.mean_s for path in found.paths) / found.events
    assert mean_s == pytest.approx(found.mean_s)
    # Half of both flows' service is a's: whoever came through it took longer.
    assert found.paths[0].stages == ("a", "m")
    assert found.paths[0].mean_s > found.paths[1].mean_s + 0.01


SCENARIO = """
name = "fork"
duration_s = 60
policies = ["gigk-path"]
objective = { latency_s = 0.5, sla_ratio = 0.9 }
topic = { name = "in", partitions = 1, arrivals = { kind = "even" }, rate = { kind = "constant", eps = 2 } }

[[group]]
name = "first"
topics = ["in"]
service = { kind = "fixed", mean_s = 0.05 }
output = { name = "mid", partitions = 1 }

[[group]]
name = "left"
topics = ["mid"]
service = { kind = "fixed", mean_s = 0.2 }

[[group]]
name = "right"
topics = ["mid"]
service = { kind = "fixed", mean_s = 0.1 }
"""
LEFT = '\n[[path]]\nstages = ["first", "left"]\nlatency_s = {}\n'


def read(folder: Path, more: str) -> Scenario:
    path = folder / "fork.toml"
    path.write_text(SCENARIO + more, encoding="utf-8")
    return find_scenario(str(path))


def test_a_scenario_is_judged_path_by_path(tmp_path: Path) -> None:
    scenario = read(tmp_path, LEFT.format("0.251") + 'sla_ratio = 0.99\n[[path]]\nstages = ["first", "right"]\n'
                    "latency_s = 0.2\n")  # fmt: skip
    outcome = run(scenario, "hold", 0, bound=None)
    # 0.05 + 0.2 s on the left, 0.05 + 0.1 s on the right.
    assert [promise.in_words() for promise in promises_of(scenario, [outcome])] == [
        "first → left: 100.00% of 120 events within 0.251 s: objective of 0.99 kept",
        "first → right: 100.00% of 120 events within 0.2 s: objective of 0.9 kept",
    ]
    shown = simulated(outcome)["paths"]
    assert [(path["stages"], path["sla_ratio"]) for path in shown] == [
        (["first", "left"], 1.0),
        (["first", "right"], 1.0),
    ]
    assert outcome.row.sla_ratio == 1.0
    # A path without one of its own has the objective of all.
    one = read(tmp_path, LEFT.format("0.26"))
    assert [promise.latency_s for promise in promises_of(one, [run(one, "hold", 0, bound=None)])] == [0.26, 0.5]


def test_a_journal_replayed_with_its_topology_changes_nothing(tmp_path: Path) -> None:
    own = PathSettings(stages=("resize-b", "recognition"), latency_s=0.8)
    busy = find_scenario("image-functions").model_copy(update={"duration_s": 1200.0, "path": (own,)})
    journal = Kept()
    run(busy, "gigk-path", 0, bound=None, sink=journal)
    acted = [decision for decision in journal if decision.receipt.action is not Action.HOLD]
    assert acted
    written = [decision_from_json(decision_to_json(decision)) for decision in journal]
    again = list(replay(written, build_policy(busy, "gigk-path"), topology=build_topology(busy)))
    assert not [r for r in again if r.differs]
    # Without it every stage is a path of its own.
    alone = replay(written, build_policy(busy, "gigk-path"))
    assert any(str(r.plan.reason) != str(r.decision.plan.reason) for r in alone)


def test_without_paths_all_events_are_judged_together(tmp_path: Path) -> None:
    scenario = read(tmp_path, "")
    promise, *others = promises_of(scenario, [run(scenario, "hold", 0, bound=None)])
    assert not others
    assert promise.in_words() == "100.00% of 240 events within 0.5 s: objective of 0.9 kept"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            LEFT.format("0.5").replace("left", "lift"),
            "path[0].stages names 'lift'; the scenario has first, left, right",
        ),
        (LEFT.format("0.25"), "path[0].latency_s is 0.25, but service alone takes 0.25 s along first → left"),
        (LEFT.format("0.5") * 2, "path[1].stages first → left is there twice"),
        (LEFT.format("0.5").replace('"first", ', ""), "path[0].stages left is no whole path of the topology; it has "),
        (LEFT.format("0.5").replace('"first", "left"', ""), "path[0].stages"),
        (LEFT.format("0"), "path[0].latency_s is 0: "),
        (LEFT.format("1") + "sla_ratio = 1.5", "path[0].sla_ratio is 1.5: "),
    ],
)
def test_a_path_that_cannot_be_is_named(tmp_path: Path, more: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, more)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
