"""A live run and its twin."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sluice.assembly.world import build_world
from sluice.errors import InputError, did_you_mean
from sluice.lab.live.load import compressed, load_of
from sluice.lab.live.replay import replay
from sluice.lab.live.settings import Manner, live_settings
from sluice.lab.live.twin import Machinery, live_row, twin_row
from sluice.lab.row import Row
from sluice.sdk.group_settings import Assignor, GroupSettings, Rebalance
from sluice.settings.scenario import Scenario

NEARBY_S = (-0.02, -0.01, 0.01, 0.02)
"""As much as a look at a broker takes, and as a batch ends earlier or later from one live run to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What happened, and what the simulator says should have."""

    policy: str
    mode: str
    live: Row
    simulated: Row
    nearby: tuple[Row, ...]
    """Simulated with every look a little earlier or later: where these differ, the live run hangs on milliseconds."""
    machinery: Machinery


def checked_manner(mode: str, assignor: str, rebalance: str | None, heartbeat_s: float) -> Manner:
    """As a command line gives it; one line for what cannot be."""
    for name, value, known in (
        ("mode", mode, ("managed", "group")),
        ("assignor", assignor, tuple(a.value for a in Assignor)),
        ("rebalance", rebalance, tuple(r.value for r in Rebalance)),
    ):
        if value is not None and value not in known:
            raise InputError(f"{name} is {value!r}; {did_you_mean(value, known)}")
    if mode == "managed" and (assignor != Assignor.PLANNED or rebalance is not None):
        raise InputError("assignor and rebalance belong to --mode group; leave them out")
    GroupSettings(assignor=assignor, rebalance=rebalance, heartbeat_s=heartbeat_s)
    return Manner(mode=mode, assignor=assignor, rebalance=rebalance, heartbeat_s=heartbeat_s)


def checked_load(scenario: Scenario, policies: Sequence[str], manner: Manner, *, seed: int, compress: int) -> None:
    """What cannot be replayed is told before anything is started."""
    compressed(build_world(scenario, seed), compress)
    for policy in policies:
        live_settings(scenario, policy, manner, bootstrap="nowhere:0", suffix="", folder=Path())


def bench_live(
    scenario: Scenario,
    policy: str,
    manner: Manner,
    *,
    bootstrap: str,
    seed: int,
    compress: int,
    folder: Path,
    on_tick: Callable[[float], None] = lambda _: None,
) -> Compared:
    """`folder` is emptied first."""
    spec = compressed(build_world(scenario, seed), compress)
    load = load_of(spec, seed)
    shutil.rmtree(folder, ignore_errors=True)
    run = replay(
        scenario,
        load,
        policy,
        manner,
        duration_s=spec.duration_s,
        bootstrap=bootstrap,
        folder=folder,
        on_tick=on_tick,
    )
    predict = partial(twin_row, scenario, spec, load, policy, manner, seed, run)
    return Compared(
        policy=policy,
        mode=manner.mode,
        live=live_row(scenario, policy, seed, run),
        simulated=predict(),
        nearby=tuple(predict(shift_s=shift_s) for shift_s in NEARBY_S),
        machinery=Machinery.of(run),
    )
