"""`sluice tune`: the cheapest setting of a policy that keeps the objective."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    scenario: Annotated[str, typer.Argument(help="A scenario file, or the name of one that comes with Sluice.")],
    policy: Annotated[str, typer.Option(help="Whose parameters are searched.")] = "tail-binpack",
    parameter: Annotated[
        list[str] | None, typer.Option(help="Search only this one; may be repeated. Default: all that can be.")
    ] = None,
    trials: Annotated[int, typer.Option(min=2, help="Settings to try.")] = 40,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of each. Default: the scenario's.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    json: Annotated[Path | None, typer.Option(help="Write the front and the choice as JSON to this file.")] = None,
    toml: Annotated[Path | None, typer.Option(help="Write the chosen setting as TOML to this file.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder with trace files.")] = None,
) -> int:
    """Search a policy's parameters over many runs; print what cannot be beaten, and the choice as TOML."""
    from sluice.assembly.loop import build_policy
    from sluice.cli.output import check_writable, console, write_json, write_text
    from sluice.cli.progress import progress
    from sluice.lab.library import find_scenario
    from sluice.lab.reproduce.runner import Runner
    from sluice.lab.tune import setting_toml, tune

    found = find_scenario(scenario, data)
    build_policy(found, policy)
    for wanted in (json, toml):
        if wanted is not None:
            check_writable(wanted)
    with Runner(jobs) as runner, progress("tuning", trials, steps=True) as advance:
        tuned = tune(
            found,
            policy,
            trials=trials,
            seeds=seeds or found.seeds,
            runner=runner,
            only=tuple(parameter or ()),
            on_done=advance,
        )
    out = console()
    out.print(f"{policy} on {found.name}: settings that no other beats (objective {tuned.objective:.4g} in time)")
    for setting in tuned.front:
        values = ", ".join(
            f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in setting.arguments.items()
        )
        out.print(f"{setting.replica_minutes:9.2f} replica-min {setting.sla_ratio:8.2%}  {values}", soft_wrap=True)
    before, chosen = tuned.before, tuned.chosen
    out.print(f"as it was: {before.replica_minutes:.2f} replica-min, {before.sla_ratio:.2%}")
    out.print(f"chosen:    {chosen.replica_minutes:.2f} replica-min, {chosen.sla_ratio:.2%}")
    text = setting_toml(policy, chosen.arguments)
    out.print(text, markup=False)
    if not tuned.kept:
        out.print("no setting tried keeps the objective; this one comes closest")
    if json is not None:
        write_json(json, tuned)
    if toml is not None:
        write_text(toml, text)
    return 0 if tuned.kept else 1
