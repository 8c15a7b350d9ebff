"""Runs every `bench_*.py` beside this file and prints its measurements; exit 1 when a target is missed."""

import sys
from importlib import import_module
from pathlib import Path

from benchmarks.measure import Measurement


def main(wanted: list[str]) -> int:
    missed = 0
    for file in sorted(Path(__file__).parent.glob("bench_*.py")):
        if wanted and file.stem.removeprefix("bench_") not in wanted:
            continue
        measured: list[Measurement] = import_module(f"benchmarks.{file.stem}").run()
        for m in measured:
            missed += not m.met
            verdict = "    " if m.target is None else "ok  " if m.met else "MISS"
            aim = "" if m.target is None else f"{'>=' if m.at_least else '<='} {m.target:g}"
            print(f"{verdict} {m.name:<58} {m.value:>12.4g} {m.unit:<10} {aim}".rstrip(), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
