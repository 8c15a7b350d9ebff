"""`sluice reproduce`: the papers' evaluations run again, claim by claim."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from sluice.lab.reproduce.claim import Verdict
    from sluice.lab.reproduce.paper import Reproduced


def run(
    papers: Annotated[
        list[str] | None, typer.Argument(help="tail-binpack, packing, queue-buffer, dataflow, or all (the default).")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write one record a claim as JSON to this file.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write an HTML report to this file. Default: beside the JSON file.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder with the recorded traces.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of each kind. Default: as each paper needs.")] = None,
) -> None:
    """Hold the published numbers against our own and say which claims hold."""
    from sluice.cli.output import check_writable, console, write_json, write_text
    from sluice.cli.progress import progress
    from sluice.lab.library import data_folder
    from sluice.lab.reproduce.library import find_papers
    from sluice.lab.reproduce.paper import Setting, reproduce
    from sluice.lab.reproduce.runner import Runner

    if report is None and json is not None and json.suffix == ".json":
        report = json.with_suffix(".html")
    chosen, folder = find_papers(papers or ()), data_folder(data)
    for wanted in (json, report):
        if wanted is not None:
            check_writable(wanted)
    done = []
    with Runner(jobs) as runner, progress("reproducing", len(chosen), steps=True) as advance:
        for paper in chosen:
            done.append(reproduce(paper, Setting(data=folder, runner=runner, seeds=seeds)))
            advance(len(done))
    out = console()
    for one in done:
        for source in one.findings.sources:
            out.print(source)
        out.print(_table(one))
    held, total = sum(one.held for one in done), sum(len(one.verdicts) for one in done)
    out.print(f"{held} of {total} claims hold ({held / total:.1%})")
    if json is not None:
        write_json(json, [_record(one, verdict) for one in done for verdict in one.verdicts])
    if report is not None:
        from sluice.lab.reproduce.page import reproduction_html

        write_text(report, reproduction_html(done))
        out.print(f"report: {report}")


def _record(one: "Reproduced", verdict: "Verdict") -> dict[str, object]:
    from sluice.model.codec import encode

    return {**encode(verdict), "sources": list(one.findings.sources)}


def _table(one: "Reproduced") -> "Table":
    from rich import box
    from rich.table import Table

    from sluice.lab.reproduce.text import difference_text, measured_text, published_text

    title = f"{one.paper.name}: {one.held} of {len(one.verdicts)} claims hold"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("claim", "published", "measured", "difference", ""):
        table.add_column(name)
    for verdict in one.verdicts:
        table.add_row(
            verdict.claim,
            published_text(verdict),
            measured_text(verdict),
            difference_text(verdict),
            "[green]holds" if verdict.holds else "[red]does not hold",
        )
        if verdict.note:
            table.add_row(f"[dim]{verdict.note}", "", "", "", "")
    return table
