"""`sluice bench`: measure on real machinery."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Bootstrap = Annotated[
    str | None, typer.Option(help="HOST:PORT of a cluster; otherwise a broker of its own is started and stopped.")
]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the results as JSON to this file.")]


@app.callback()
def bench() -> None:
    """Measure on real machinery."""


@app.command()
def live(
    scenario: Annotated[str, typer.Argument(help="A scenario file, or the name of one that comes with Sluice.")],
    policy: Annotated[list[str] | None, typer.Option(help="May be repeated. Default: tail-binpack.")] = None,
    compress: Annotated[int, typer.Option(min=1, help="Play the rate curve so many times faster.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Which draw of the scenario's events.")] = 0,
    mode: Annotated[str, typer.Option(help="managed, or group: members of a Kafka consumer group.")] = "managed",
    assignor: Annotated[
        str, typer.Option(help="Mode group: planned, or Kafka's own range, roundrobin, cooperative-sticky.")
    ] = "planned",
    rebalance: Annotated[str | None, typer.Option(help="Mode group: eager or cooperative.")] = None,
    heartbeat_s: Annotated[float, typer.Option(min=0.1, help="Mode group: between two heartbeats.")] = 0.5,
    bootstrap: Bootstrap = None,
    folder: Annotated[
        Path, typer.Option(help="Where what the consumers record is kept, in a folder for each policy.")
    ] = Path("out/live"),
    json: JsonFile = None,
    data: Annotated[Path | None, typer.Option(help="Folder with trace files.")] = None,
) -> int:
    """Replay a scenario in real time with real consumer processes, and predict it with the simulator.

    Whatever was started is stopped at the end, also by Ctrl-C. Exit 1 when the objective was missed.
    """
    from sluice.cli.bench_live import on_cluster, print_compared
    from sluice.cli.output import check_writable, console, write_json
    from sluice.cli.progress import progress
    from sluice.lab.library import find_scenario
    from sluice.lab.live.bench import bench_live, checked_load, checked_manner

    chosen = find_scenario(scenario, data)
    manner = checked_manner(mode, assignor, rebalance, heartbeat_s)
    names = tuple(dict.fromkeys(policy or ("tail-binpack",)))
    checked_load(chosen, names, manner, seed=seed, compress=compress)
    if json is not None:
        check_writable(json)
    with on_cluster(bootstrap) as address:
        compared = []
        for name in names:
            with progress(f"{name} live", chosen.duration_s / compress) as advance:
                compared.append(
                    bench_live(
                        chosen,
                        name,
                        manner,
                        bootstrap=address,
                        seed=seed,
                        compress=compress,
                        folder=folder / name,
                        on_tick=advance,
                    )
                )
    if json is not None:
        write_json(json, compared)
    print_compared(console(), chosen, compared)
    return 1 if any(c.live.sla_ratio < chosen.objective.sla_ratio for c in compared) else 0
