"""`sluice explain`: why a recorded decision was taken."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    journal: Annotated[Path, typer.Argument(help="A journal that `simulate --journal` or `run` wrote.")],
    tick: Annotated[int | None, typer.Option(help="Only this tick; all actions by default.")] = None,
    group: Annotated[str | None, typer.Option(help="Only this group.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the explanations to this file.")] = None,
) -> None:
    """Say why: what was seen, what was chosen, what lost and why, which guard fired."""
    from collections import Counter

    from sluice.cli.output import write_json
    from sluice.control.explain import explain, in_words
    from sluice.control.journal import read_journal
    from sluice.errors import InputError, did_you_mean
    from sluice.model import Action

    decisions = list(read_journal(journal))
    if not decisions:
        raise InputError(f"journal {journal} holds no decision")
    groups = {decision.group for decision in decisions}
    if group is not None and group not in groups:
        raise InputError(f"journal {journal} knows no group {group!r}; {did_you_mean(group, groups)}")
    mine = [d for d in decisions if group in (None, d.group)]
    chosen = [d for d in mine if (d.plan.action is not Action.HOLD if tick is None else d.tick == tick)]
    if tick is not None and not chosen:
        raise InputError(f"journal {journal} has no tick {tick}; it goes from {mine[0].tick} to {mine[-1].tick}")
    told = [explain(decision) for decision in chosen]
    if json is not None:
        write_json(json, told)
    for explanation in told:
        print(in_words(explanation), end="\n\n")
    if tick is None:
        held = Counter(d.plan.guard or "the policy itself" for d in mine if d.plan.action is Action.HOLD)
        by = ", ".join(f"{count} by {who}" for who, count in held.most_common())
        print(f"{len(mine)} decisions, {len(chosen)} actions; held: {by or 'never'}")
