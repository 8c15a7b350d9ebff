"""What `compare` and `demo` share: run, show, write."""

from collections.abc import Sequence
from pathlib import Path

from sluice.assembly.loop import build_policy
from sluice.cli.output import check_writable, console, write_json, write_text
from sluice.cli.progress import progress
from sluice.cli.table import comparison_table
from sluice.errors import InputError
from sluice.lab.compare import Compared, Each, compare, runs
from sluice.lab.experiment import check_step
from sluice.lab.library import stand_ins
from sluice.lab.outcome import Outcome
from sluice.lab.promise import promises_of
from sluice.lab.row import means
from sluice.settings.scenario import Scenario


def compare_and_show(
    scenarios: Sequence[Scenario],
    policies: tuple[str, ...],
    *,
    seeds: int | None,
    jobs: int = 1,
    step_s: float = 1.0,
    json_file: Path | None,
    report_file: Path | None,
    each: Each | None = None,
) -> None:
    """Mistakes are told before the first run, not after the last."""
    check_step(step_s)
    for scenario in scenarios:
        if not (policies or scenario.policies):
            raise InputError(f"scenario {scenario.name} names no policies; give some with --policy")
        for name in policies or scenario.policies:
            build_policy(scenario, name)
    for wanted in (json_file, report_file):
        if wanted is not None:
            check_writable(wanted)
    with progress("comparing", runs(scenarios, policies, seeds), steps=True) as advance:
        compared = compare(scenarios, policies, seeds=seeds, jobs=jobs, step_s=step_s, on_done=advance, each=each)
    if json_file is not None:
        write_json(json_file, [row for part in compared for row in part.rows])
    out = console()
    for part in compared:
        for file in stand_ins(part.scenario):
            out.print(f"{file} is not there: a curve fitted to it stands in")
        out.print(comparison_table(part.scenario, means(part.rows), part.bounds))
        for line in _paths(part):
            out.print(line, soft_wrap=True)
    if report_file is not None:
        from sluice.lab.report import report_html

        write_text(report_file, report_html(compared))
        out.print(f"report: {report_file}")


def _paths(part: Compared) -> list[str]:
    """How each policy kept the promises of paths, where there are some."""
    if not part.scenario.path:
        return []
    by_policy: dict[str, list[Outcome]] = {}
    for outcome in part.outcomes:
        by_policy.setdefault(outcome.row.policy, []).append(outcome)
    return [
        f"{policy}, {promise.in_words()}"
        for policy, outcomes in by_policy.items()
        for promise in promises_of(part.scenario, outcomes)
    ]
