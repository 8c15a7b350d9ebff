"""`sluice pipeline telemetry`: topics and reports from Kafka into a lake, window by window."""

from typing import Annotated

import typer

from sluice.cli.pipeline_options import Master, Memory, spark
from sluice.errors import InputError


def run(
    bootstrap: Annotated[str, typer.Option(help="Kafka's address, HOST:PORT[,HOST:PORT].")],
    group: Annotated[list[str], typer.Option(help="GROUP=TOPIC[,TOPIC]: a group and what it reads; repeatable.")],
    lake: Annotated[str, typer.Option(help="Folder of the lake; an existing one is continued.")],
    window_s: Annotated[int, typer.Option(help="Rates are means over this time.")] = 30,
    slide_s: Annotated[int, typer.Option(help="A window ends this often.")] = 10,
    delay_s: Annotated[int, typer.Option(help="How much older than its predecessors an event may be.")] = 10,
    objective_s: Annotated[float, typer.Option(help="The latency that was promised.")] = 0.5,
    top_keys: Annotated[int, typer.Option(help="Hot keys kept of each window and partition.")] = 10,
    every_s: Annotated[float, typer.Option(help="A batch begins this often.")] = 5.0,
    max_records: Annotated[int, typer.Option(help="Records of one batch at most.")] = 1_000_000,
    until_empty: Annotated[bool, typer.Option("--until-empty", help="Stop when all that is there is read.")] = False,
    publish: Annotated[bool, typer.Option(help="Write snapshots to the groups' workload topics.")] = True,
    kafka: Annotated[list[str] | None, typer.Option(help="KEY=VALUE for the Kafka client; repeatable.")] = None,
    master: Master = None,
    memory: Memory = None,
) -> None:
    """Read on until stopped; a restart at any point loses nothing and counts nothing twice."""
    from sluice.pipeline.failures import plain_failures
    from sluice.pipeline.telemetry.job import StreamSpec, check_stream, start_stream
    from sluice.pipeline.telemetry.spec import TelemetrySpec, WatchedGroup

    watched = []
    for word in group:
        name, topics = _pair(word, "--group", "payments=orders,refunds")
        watched.append(WatchedGroup(group=name, topics=tuple(t for t in topics.split(",") if t)))
    spec = TelemetrySpec(
        groups=tuple(watched),
        window_s=window_s,
        slide_s=slide_s,
        delay_s=delay_s,
        objective_s=objective_s,
        top_keys=top_keys,
    )
    stream = StreamSpec(
        bootstrap=bootstrap,
        lake=lake,
        every_s=every_s,
        until_empty=until_empty,
        max_records=max_records,
        publish=publish,
        client=dict(_pair(word, "--kafka", "security.protocol=SSL") for word in kafka or ()),
    )
    check_stream(stream, spec)
    with spark("telemetry", master, memory, kafka=True) as session, plain_failures(f"the stream into {lake}"):
        query = start_stream(session, stream, spec)
        print(f"reading {', '.join((*spec.event_topics, *spec.report_topics))} into {lake}", flush=True)
        query.awaitTermination()


def _pair(word: str, option: str, example: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not key or not equals or not value:
        raise InputError(f"{option} {word!r} is not of the form {example}")
    return key, value
