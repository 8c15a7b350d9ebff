"""The settings of a live run, made from a scenario."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.assembly.loop import build_policy
from sluice.assembly.world import build_service, mean_bytes
from sluice.errors import InputError
from sluice.lab.live.parent import parent_environment
from sluice.sdk.group_settings import Assignor, Rebalance
from sluice.settings.live import ControlSettings, KafkaSettings, LiveSettings, WatchedSettings
from sluice.settings.scenario import Scenario
from sluice.simulate import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How the consumers take part."""

    mode: str = "managed"
    assignor: str = "planned"
    """Mode group: the plan, or one of Kafka's own."""
    rebalance: str | None = None
    heartbeat_s: float = 0.5

    @property
    def protocol(self) -> Protocol:
        """What the simulator calls it."""
        if self.mode == "managed":
            return Protocol.HANDOVER
        eager = (Assignor.RANGE, Assignor.ROUND_ROBIN)
        if self.rebalance == Rebalance.EAGER or (self.rebalance is None and self.assignor in eager):
            return Protocol.EAGER
        return Protocol.COOPERATIVE


def live_settings(
    scenario: Scenario, policy: str, manner: Manner, *, bootstrap: str, suffix: str, folder: Path
) -> LiveSettings:
    """One group on topics and under a name of its own, so that runs do not meet."""
    if len(scenario.group) != 1:
        raise InputError(f"scenario {scenario.name} has {len(scenario.group)} groups; a live run replays one")
    build_policy(scenario, policy)
    group = scenario.group[0]
    if Protocol(group.protocol).shared:
        raise InputError(f"group {group.name!r} is {group.protocol}, a shared subscription; a live run is on Kafka")
    mean_s = build_service(group, scenario).mean_s
    capacity_bps = mean_bytes(group, scenario) / mean_s if group.capacity_bps is None else group.capacity_bps
    return LiveSettings(
        kafka=KafkaSettings(bootstrap=bootstrap),
        objective=scenario.objective,
        control=ControlSettings(policy=policy, interval_s=scenario.interval_s),
        group=(
            WatchedSettings(
                name=f"{group.name}-{suffix}",
                topics=tuple(f"{topic.name}-{suffix}" for topic in scenario.inputs(group)),
                mode="managed" if manner.mode == "managed" else "group",
                lag_basis=group.lag_basis,
                command=("python", "-m", "sluice.lab.live.consumer"),
                environment={
                    "REPLAY_SERVICE": group.service.model_dump_json(),
                    "REPLAY_FOLDER": str(folder),
                    "SLUICE_MAX_POLL_EVENTS": str(group.max_poll_events),
                    **parent_environment(),
                },
                initial_consumers=group.initial_consumers,
                service_eps=1.0 / mean_s,
                rebalance_s=group.rebalance_s,
                startup_s=group.startup_range_s[1],
                capacity_bps=capacity_bps,
                **_taking_part(manner),
            ),
        ),
        analyze=scenario.analyze,
        guards=scenario.guards,
        policy=scenario.policy,
    )


def _taking_part(manner: Manner) -> dict[str, Any]:
    if manner.mode == "managed":
        return {}
    return {"assignor": manner.assignor, "rebalance": manner.rebalance, "heartbeat_s": manner.heartbeat_s}
