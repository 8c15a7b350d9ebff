"""How long all published evaluations take on two processes."""

from time import perf_counter

from benchmarks.measure import Measurement

from sluice.lab.library import data_folder
from sluice.lab.reproduce.library import find_papers
from sluice.lab.reproduce.paper import Setting, reproduce
from sluice.lab.reproduce.runner import Runner


def run() -> list[Measurement]:
    began = perf_counter()
    with Runner(2) as runner:
        done = [reproduce(paper, Setting(data=data_folder(), runner=runner)) for paper in find_papers(["all"])]
    took_s = perf_counter() - began
    held = sum(one.held for one in done) / sum(len(one.verdicts) for one in done)
    return [
        Measurement("reproduce all, two processes", took_s, "s", 300.0, at_least=False),
        Measurement("published claims that hold", held, "share", 0.9, at_least=True),
    ]
