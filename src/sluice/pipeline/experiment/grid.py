"""The cells of an experiment: what is run, and a name that says exactly what."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sluice import __version__
from sluice.assembly.loop import build_policy, with_arguments
from sluice.errors import InputError
from sluice.plan.registry import policy_parameters
from sluice.settings.scenario import Argument, Scenario

_NAME_LENGTH = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """One run."""

    scenario: Scenario
    """With the cell's parameters among the policy's arguments."""
    policy: str
    parameters: tuple[tuple[str, Argument], ...]
    seed: int

    @property
    def name(self) -> str:
        """The same for the same run of the same version, on any machine: what is finished need not be run again."""
        content = {
            "version": __version__,
            "scenario": self.scenario.model_dump(mode="json"),
            "policy": self.policy,
            "seed": self.seed,
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:_NAME_LENGTH]


def cells_of(
    scenarios: Sequence[Scenario],
    policies: Sequence[str] = (),
    parameters: Mapping[str, Sequence[Argument]] | None = None,
    seeds: int | None = None,
) -> tuple[Cell, ...]:
    """Every combination once. Without `policies` or `seeds` each scenario's own.

    A parameter that a policy does not have is left out for that policy: one grid may hold several policies.
    """
    known: dict[str, Cell] = {}
    used: set[str] = set()
    for scenario in scenarios:
        names = tuple(policies or scenario.policies)
        if not names:
            raise InputError(f"scenario {scenario.name} names no policies; give some with --policy")
        for policy in names:
            mine = {k: v for k, v in (parameters or {}).items() if k in policy_parameters(policy)}
            used |= set(mine)
            for chosen in _combinations(mine):
                changed = with_arguments(scenario, policy, dict(chosen)) if chosen else scenario
                build_policy(changed, policy)  # a wrong value is told now, not by an executor
                for seed in range(seeds or scenario.seeds):
                    cell = Cell(scenario=changed, policy=policy, parameters=chosen, seed=seed)
                    known.setdefault(cell.name, cell)
    unknown = set(parameters or {}) - used
    if unknown:
        raise InputError(f"parameter {min(unknown)!r} belongs to none of the policies; remove it or name its policy")
    return tuple(known.values())


def _combinations(parameters: Mapping[str, Sequence[Argument]]) -> Iterator[tuple[tuple[str, Argument], ...]]:
    names = sorted(parameters)
    for values in product(*(parameters[name] for name in names)):
        yield tuple(zip(names, values, strict=True))
