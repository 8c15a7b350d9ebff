"""`sluice tune`: the cheapest setting of a policy that keeps the objective."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sluice.lab.tune import Setting


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
    from sluice.lab.library import find_scenario, stand_ins
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
    for file in stand_ins(found):
        out.print(f"{file} is not there: a curve fitted to it stands in")
    before, chosen = tuned.before, tuned.chosen
    promised = "; ".join(f"{p.where}{p.wanted_ratio:.4g} within {p.latency_s:g} s" for p in chosen.promises)
    out.print(f"{policy} on {found.name}: settings that no other beats (promised: {promised})", soft_wrap=True)
    for setting in tuned.front:
        out.print(
            f"{_measured(setting)}  {', '.join(f'{k} = {v}' for k, v in setting.arguments.items())}", soft_wrap=True
        )
    out.print(f"as it was: {_measured(before)}")
    out.print(f"chosen:    {_measured(chosen)}")
    if found.path:
        for promise in chosen.promises:
            out.print(promise.in_words(), soft_wrap=True)
    text = setting_toml(policy, chosen.arguments)
    out.print(f"in place of [policy.{policy}] in the scenario, or in the settings of `sluice run`:", markup=False)
    out.print(text, markup=False, soft_wrap=True)
    if not tuned.kept:
        out.print("no setting tried keeps what is promised; this one comes closest")
    if json is not None:
        write_json(json, tuned)
    if toml is not None:
        write_text(toml, text)
    return 0 if tuned.kept else 1


def _measured(setting: "Setting") -> str:
    shares = " / ".join(f"{promise.sla_ratio:.2%}" for promise in setting.promises)
    return f"{setting.replica_minutes:9.2f} replica-min {shares:>8}"
