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


@app.command()
def response(
    delta: Annotated[float, typer.Option(min=0.0, help="Speeds change by up to so many percent of C a step.")] = 5.0,
    partitions: Annotated[int, typer.Option(min=1, help="How many there are; each wants up to a consumer.")] = 8,
    steps: Annotated[int, typer.Option(min=1, help="How many measurements.")] = 10,
    interval_s: Annotated[float, typer.Option(min=0.1, help="Time between two measurements.")] = 3.0,
    measurements: Annotated[
        Path | None,
        typer.Option(help="Take the speeds from this file instead, as `sluice pack` reads it."),
    ] = None,
    capacity: Annotated[float, typer.Option(min=1e-9, help="C in the units of the speeds.")] = 100.0,
    policy: Annotated[str, typer.Option(help="A packing policy: mwf, mbf, mwfp, mbfp, ffd, bfd, …")] = "mwf",
    seed: Annotated[int, typer.Option(min=0, help="Which stream of speeds.")] = 0,
    bootstrap: Bootstrap = None,
    folder: Annotated[Path, typer.Option(help="Where the consumers' files are kept.")] = Path("out/response"),
    json: JsonFile = None,
) -> int:
    """Drive the controller by a stream of measurements and take the times of its answers, with real consumers.

    Δt1 measuring, Δt2 deciding, Δt3 starting consumers, Δt4 handing partitions over.
    """
    from sluice.cli.bench_live import on_cluster, print_changes
    from sluice.cli.output import check_writable, console, write_json
    from sluice.cli.progress import progress
    from sluice.lab.live.response import bench_response, checked_packing, speeds_of

    checked_packing(policy)
    speeds = speeds_of(measurements, delta=delta, partitions=partitions, steps=steps, capacity=capacity, seed=seed)
    if json is not None:
        check_writable(json)
    with on_cluster(bootstrap) as address, progress("measurements", len(speeds), steps=True) as advance:
        changes = bench_response(
            speeds,
            capacity=capacity,
            policy=policy,
            bootstrap=address,
            folder=folder,
            interval_s=interval_s,
            on_step=advance,
        )
    if json is not None:
        write_json(json, changes)
    print_changes(console(), changes, len(speeds))
    return 0


@app.command()
def capacity(
    partitions: Annotated[str, typer.Option(help="Numbers of partitions, with commas.")] = "1,8,32",
    sizes: Annotated[str, typer.Option(help="Bytes of a message, with commas.")] = "100,1000,10000",
    seconds: Annotated[float, typer.Option(min=0.1, help="How long each run reads at the sink's speed.")] = 5.0,
    sink_bps: Annotated[float, typer.Option(min=1.0, help="Bytes a second the sink takes.")] = 2_300_000.0,
    batch_bytes: Annotated[int, typer.Option(min=1, help="A batch is at most this big,")] = 1_000_000,
    wait_s: Annotated[float, typer.Option(min=0.0, help="and gathered for at most this long.")] = 1.0,
    bootstrap: Bootstrap = None,
    folder: Annotated[Path, typer.Option(help="Where the consumers' files are kept.")] = Path("out/capacity"),
    json: JsonFile = None,
) -> int:
    """Measure what one consumer can read, over numbers of partitions and sizes of messages.

    The consumer gathers batches and sends them to a sink of a given speed: is its capacity one number?
    """
    from sluice.cli.arguments import whole_numbers
    from sluice.cli.bench_live import on_cluster, print_capacities
    from sluice.cli.output import check_writable, console, write_json
    from sluice.cli.progress import progress
    from sluice.lab.live.capacity import Cycle, bench_capacity, checked_capacity

    counts, bytes_each = whole_numbers("partitions", partitions), whole_numbers("sizes", sizes)
    cycle = Cycle(sink_bps=sink_bps, batch_bytes=batch_bytes, wait_s=wait_s)
    checked_capacity(cycle, seconds)
    if json is not None:
        check_writable(json)
    with on_cluster(bootstrap) as address, progress("runs", len(counts) * len(bytes_each), steps=True) as advance:
        found = bench_capacity(
            counts, bytes_each, cycle=cycle, seconds=seconds, bootstrap=address, folder=folder, on_done=advance
        )
    if json is not None:
        write_json(json, found)
    print_capacities(console(), found, cycle)
    return 0
