"""`sluice run`: watch live groups, recommend, and with `--act` carry it out."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    config: Annotated[Path, typer.Argument(help="A TOML file: cluster, groups, objective, policy.")],
    act: Annotated[bool, typer.Option("--act", help="Carry the plans out; without it they are advice.")] = False,
    policy: Annotated[str | None, typer.Option(help="Decide with this policy instead of the file's.")] = None,
    shadow: Annotated[
        list[str] | None,
        typer.Option(
            help="Ask this policy too, instead of the file's shadows, and journal its plans; may be repeated."
        ),
    ] = None,
    bootstrap: Annotated[str | None, typer.Option(help="HOST:PORT of the cluster instead of the file's.")] = None,
    journal: Annotated[Path | None, typer.Option(help="Append every decision to this file.")] = None,
    duration_s: Annotated[float | None, typer.Option("--for", min=0.0, help="Stop after so many seconds.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write a summary as JSON to this file at the end.")] = None,
) -> int:
    """Watch live groups and decide every interval. Exit 1 when the objective was missed.

    SIGTERM and Ctrl-C bring a change that is under way to its end and leave the consumers running.
    """
    from contextlib import ExitStack
    from threading import Event

    from sluice.assembly.live import Live, cluster_address, live
    from sluice.cli.live_view import LiveView, print_summary
    from sluice.cli.output import check_writable, console, write_json
    from sluice.cli.stop import stopping_in_order
    from sluice.control.journal import Journal
    from sluice.control.live import Pace, Several, run_live
    from sluice.control.loop import Sink
    from sluice.control.tally import Tally
    from sluice.settings.live import read_live

    settings = read_live(config)
    address = bootstrap or cluster_address(settings)
    chosen = policy or settings.control.policy
    place = journal or (Path(settings.control.journal) if settings.control.journal else None)
    if json is not None:
        check_writable(json)
    tally = Tally(objective_s=settings.objective.latency_s)
    out = console()
    running: list[Live] = []
    stop = Event()

    with ExitStack() as stack:
        sinks: list[Sink] = [tally]
        if place is not None:
            sinks.append(stack.enter_context(Journal(place)))
        title = f"{chosen}, {'acting' if act else 'recommending'}, on {address}"
        # It connects, and the first time it compiles: meanwhile there is nothing else to see.
        out.print(f"getting ready: {title}")
        view = LiveView(out, title=title, state=lambda group: running[0].state(group))
        sinks.append(view)
        shadows = tuple(shadow or settings.control.shadows)
        running.append(
            stack.enter_context(
                live(settings, bootstrap=address, act=act, policy=chosen, shadows=shadows, sink=Several(sinks))
            )
        )
        stack.enter_context(stopping_in_order(stop))
        stack.enter_context(view)
        run_live(
            running[0].loop.tick,
            pace=Pace(stop),
            interval_s=settings.control.interval_s,
            finish=running[0].finish,
            idle=running[0].idle,
            duration_s=float("inf") if duration_s is None else duration_s,
        )
    summaries = tally.summaries()
    if json is not None:
        write_json(json, summaries)
    print_summary(out, summaries, settings.objective.latency_s)
    missed = [s for s in summaries if s.sla_ratio is not None and s.sla_ratio < settings.objective.sla_ratio]
    return 1 if missed else 0
