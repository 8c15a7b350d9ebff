"""Every policy on every scenario with every seed."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from sluice.lab.clairvoyant import Clairvoyant
from sluice.lab.experiment import least_cost, run
from sluice.lab.outcome import Outcome
from sluice.lab.row import Row
from sluice.settings.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """One scenario: its outcomes by policy, then seed, and the bound for each seed."""

    scenario: Scenario
    outcomes: tuple[Outcome, ...]
    bounds: tuple[Clairvoyant | None, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(outcome.row for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Job:
    """All policies on one scenario with one seed: they share the world and its bound."""

    place: int
    scenario: Scenario
    policies: tuple[str, ...]
    seed: int
    step_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    job: Job
    outcomes: tuple[Outcome, ...]
    bound: Clairvoyant | None


Each = Callable[[Sequence[Job]], Iterator[Done]]
"""Runs jobs, in any order."""


def compare(
    scenarios: Sequence[Scenario],
    policies: Sequence[str] = (),
    *,
    seeds: int | None = None,
    jobs: int = 1,
    step_s: float = 1.0,
    on_done: Callable[[int], None] = lambda _: None,
    each: Each | None = None,
) -> tuple[Compared, ...]:
    """Without `policies` or `seeds` each scenario's own; `on_done` hears how many runs have ended so far.

    `each` runs the jobs in some other way than by `jobs` processes of this machine.
    """
    work = [
        Job(place, scenario, tuple(policies or scenario.policies), seed, step_s)
        for place, scenario in enumerate(scenarios)
        for seed in range(seeds or scenario.seeds)
    ]
    done: dict[tuple[int, int], Done] = {}
    ended = 0
    for part in each(work) if each is not None else _each(work, jobs):
        done[part.job.place, part.job.seed] = part
        ended += len(part.outcomes)
        on_done(ended)
    # Put together by place, not by arrival: the result does not depend on which process was faster.
    return tuple(
        _compared(scenario, [done[place, seed] for seed in range(seeds or scenario.seeds)])
        for place, scenario in enumerate(scenarios)
    )


def runs(scenarios: Sequence[Scenario], policies: Sequence[str] = (), seeds: int | None = None) -> int:
    """How many runs a comparison makes."""
    return sum(len(policies or s.policies) * (seeds or s.seeds) for s in scenarios)


def _compared(scenario: Scenario, by_seed: list[Done]) -> Compared:
    by_policy = zip(*(done.outcomes for done in by_seed), strict=True)
    return Compared(
        scenario=scenario,
        outcomes=tuple(outcome for outcomes in by_policy for outcome in outcomes),
        bounds=tuple(done.bound for done in by_seed),
    )


def _each(work: Sequence[Job], jobs: int) -> Iterator[Done]:
    if jobs <= 1 or len(work) == 1:
        yield from map(do, work)
        return
    # Fresh processes: forking one that has started compiled threads is not safe.
    with ProcessPoolExecutor(max_workers=min(jobs, len(work)), mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(do, job) for job in work]):
            yield future.result()


def do(job: Job) -> Done:
    bound = least_cost(job.scenario, job.seed, job.step_s)
    outcomes = tuple(run(job.scenario, policy, job.seed, bound=bound) for policy in job.policies)
    return Done(job, outcomes, bound)
