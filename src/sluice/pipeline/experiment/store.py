"""Finished cells: a file each, so that a run that was broken off goes on where it stopped."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pyarrow.fs import FileSelector

from sluice.lab.row import Row
from sluice.pipeline.experiment.grid import Cell
from sluice.pipeline.publish import file_system

_FOLDER = "cells"


def finished(out: str) -> frozenset[str]:
    """Names of the cells that are done."""
    system, inner = file_system(out)
    found = system.get_file_info(FileSelector(f"{inner}/{_FOLDER}", allow_not_found=True))
    return frozenset(
        info.base_name[:-5] for info in found if info.base_name.endswith(".json") and info.base_name[0] != "."
    )


def prepare(out: str) -> None:
    system, inner = file_system(out)
    system.create_dir(f"{inner}/{_FOLDER}", recursive=True)


def keep(out: str, cell: Cell, row: Row) -> None:
    """Write a cell's result; it is there whole or not at all. Called where the cell was run."""
    system, inner = file_system(out)
    data = {"cell": cell.name, "parameters": dict(cell.parameters), **asdict(row)}
    draft = f"{inner}/{_FOLDER}/.{cell.name}.json"
    with system.open_output_stream(draft) as stream:
        stream.write(json.dumps(data).encode())
    system.move(draft, f"{inner}/{_FOLDER}/{cell.name}.json")


def results(out: str, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """One flat row a cell, in the order of the cells: its parameters are columns of their own."""
    system, inner = file_system(out)
    names = sorted({name for cell in cells for name, _ in cell.parameters})
    rows = []
    for cell in cells:
        with system.open_input_stream(f"{inner}/{_FOLDER}/{cell.name}.json") as stream:
            data = json.loads(stream.read())
        chosen = data.pop("parameters")
        rows.append({**{name: chosen.get(name) for name in names}, **data})
    return rows
