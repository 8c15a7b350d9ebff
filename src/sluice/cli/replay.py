"""`sluice replay`: what another policy would have planned."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    journal: Annotated[Path, typer.Argument(help="A journal that `simulate --journal` or `run` wrote.")],
    policy: Annotated[str, typer.Option(help="The policy to plan with.")],
    argument: Annotated[
        list[str] | None, typer.Option("--set", help="An argument of the policy, KEY=VALUE; may be repeated.")
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(help="Take the policy's arguments, and the topology, from this scenario.")
    ] = None,
    latency_s: Annotated[float | None, typer.Option(help="Objective, where it is not the recorded one.")] = None,
    sla_ratio: Annotated[float, typer.Option(help="With --latency-s: share of events that must keep it.")] = 0.95,
    most: Annotated[int, typer.Option(help="Show at most this many ticks that differ.")] = 20,
    json: Annotated[Path | None, typer.Option(help="Write every tick that differs, and the totals, here.")] = None,
) -> None:
    """Plan the recorded history again with another policy and show where it would have decided differently."""
    from rich.table import Table

    from sluice.assembly.loop import build_policy, with_arguments
    from sluice.assembly.topology import build_topology
    from sluice.cli.arguments import parse_arguments
    from sluice.cli.output import console, write_json
    from sluice.control.explain import when
    from sluice.control.journal import read_journal
    from sluice.control.replay import replay, totals
    from sluice.errors import InputError
    from sluice.lab.library import find_scenario
    from sluice.model import Objective
    from sluice.plan.registry import make_policy

    topology = None
    if scenario is not None:
        read = with_arguments(find_scenario(scenario), policy, parse_arguments(argument or []))
        chosen = build_policy(read, policy)
        topology = build_topology(read) if len(read.group) > 1 else None
    else:
        chosen = make_policy(policy, **parse_arguments(argument or []))
    objective = Objective(latency_s=latency_s, sla_ratio=sla_ratio) if latency_s is not None else None
    replayed = list(replay(read_journal(journal), chosen, objective, topology=topology))
    if not replayed:
        raise InputError(f"journal {journal} holds no decision")
    different = [r for r in replayed if r.differs]
    both = [totals(r.decision.plan for r in replayed), totals(r.plan for r in replayed)]
    if json is not None:
        rows = [
            {
                "tick": r.decision.tick,
                "time_s": r.decision.time_s,
                "group": r.decision.group,
                "recorded": {"action": r.decision.plan.action, "consumers": r.decision.plan.target.count},
                "replayed": {"action": r.plan.action, "consumers": r.plan.target.count, "reason": str(r.plan.reason)},
            }
            for r in different
        ]
        write_json(json, {"ticks": len(replayed), "different": rows, "totals": both})
    out = console()
    if different:
        table = Table("tick", "time", "group", "recorded", "replayed", "why", title=f"ticks that differ ({policy})")
        for r in different[:most]:
            was, would = r.decision.plan, r.plan
            table.add_row(
                str(r.decision.tick),
                when(r.decision.time_s),
                r.decision.group,
                f"{was.action.upper()} {was.target.count}",
                f"{would.action.upper()} {would.target.count}",
                str(would.reason),
            )
        out.print(table)
        if len(different) > most:
            out.print(f"… and {len(different) - most} more (--most, --json)")
    summary = Table("", "up", "down", "reassign", "hold", "mean consumers planned")
    for name, t in zip(("recorded", "replayed"), both, strict=True):
        numbers = (str(n) for n in (t.up, t.down, t.reassign, t.hold))
        summary.add_row(f"{name}: {t.policy}", *numbers, f"{t.consumers_mean:.2f}")
    out.print(summary)
    out.print(f"{len(different)} of {len(replayed)} decisions differ")
