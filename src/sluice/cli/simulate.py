"""`sluice simulate`: one scenario, one policy."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    scenario: Annotated[str, typer.Argument(help="A scenario file, or the name of one that comes with Sluice.")],
    policy: Annotated[str, typer.Option(help="The policy that decides.")],
    seed: Annotated[int, typer.Option(min=0, help="Where randomness starts.")] = 0,
    argument: Annotated[
        list[str] | None, typer.Option("--set", help="An argument of the policy, KEY=VALUE; may be repeated.")
    ] = None,
    journal: Annotated[Path | None, typer.Option(help="Write every decision to this file (it must not exist).")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the result as JSON to this file.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder with trace files.")] = None,
    step_s: Annotated[float, typer.Option(help="Step of the clairvoyant bound.")] = 1.0,
) -> int:
    """Run one policy on one scenario. Exit 1 when the objective is missed."""
    from contextlib import ExitStack

    from sluice.assembly.loop import with_arguments
    from sluice.cli.arguments import parse_arguments
    from sluice.cli.output import check_writable, console, write_json, write_text
    from sluice.cli.progress import progress
    from sluice.cli.table import comparison_table
    from sluice.control.journal import Journal
    from sluice.control.live import Several
    from sluice.control.loop import Sink
    from sluice.control.tally import Warned
    from sluice.errors import InputError
    from sluice.lab.compare import Compared
    from sluice.lab.experiment import check_step, least_cost
    from sluice.lab.experiment import run as run_once
    from sluice.lab.library import find_scenario, stand_ins
    from sluice.lab.outcome import simulated
    from sluice.lab.promise import promises_of
    from sluice.lab.row import means

    check_step(step_s)
    chosen = with_arguments(find_scenario(scenario, data), policy, parse_arguments(argument or []))
    if journal is not None and journal.exists():
        raise InputError(f"journal {journal} is there already; remove it or choose another place")
    for wanted_file in (json, report):
        if wanted_file is not None:
            check_writable(wanted_file)
    with ExitStack() as stack:
        sinks: list[Sink] = [warned := Warned()]
        if journal is not None:
            sinks.append(stack.enter_context(Journal(journal)))
        advance = stack.enter_context(progress(f"{chosen.name}, {policy}", chosen.duration_s))
        bound = least_cost(chosen, seed, step_s)
        outcome = run_once(chosen, policy, seed, bound=bound, sink=Several(sinks), on_tick=advance)
    row = outcome.row
    if json is not None:
        write_json(json, simulated(outcome))
    if report is not None:
        from sluice.lab.report import report_html

        write_text(report, report_html([Compared(scenario=chosen, outcomes=(outcome,), bounds=(bound,))]))
    out = console()
    for file in stand_ins(chosen):
        out.print(f"{file} is not there: a curve fitted to it stands in")
    out.print(comparison_table(chosen, means([row]), (bound,)))
    promises = promises_of(chosen, [outcome])
    for promise in promises:
        out.print(promise.in_words(), soft_wrap=True)
    for line in warned.in_words():
        out.print(line, markup=False, soft_wrap=True)
    return 0 if all(promise.kept for promise in promises) else 1
