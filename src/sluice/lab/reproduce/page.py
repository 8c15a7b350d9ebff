"""The reproductions as one page: claims in tables, figures redrawn. Nothing in it is fetched from elsewhere."""

from collections.abc import Sequence
from typing import Any

from sluice import __version__
from sluice.lab.report.page import page_html
from sluice.lab.reproduce.claim import Verdict
from sluice.lab.reproduce.paper import Reproduced
from sluice.lab.reproduce.text import difference_text, measured_text, published_text


def reproduction_html(papers: Sequence[Reproduced]) -> str:
    """The whole page."""
    data = {
        "title": "the published results, measured again",
        "version": __version__,
        "sections": [_section(paper) for paper in papers],
    }
    return page_html(data, script="reproduction.js")


def _section(done: Reproduced) -> dict[str, Any]:
    return {
        "name": done.paper.name,
        "title": done.paper.title,
        "verdict": f"{done.held} of {len(done.verdicts)} claims hold.",
        "sources": list(done.findings.sources),
        "choices": list(done.paper.choices),
        "claims": [_row(verdict) for verdict in done.verdicts],
        "figures": [
            {"title": f.title, "hint": f.hint, "traces": list(f.traces), "x": f.x, "y": f.y, "layout": dict(f.layout)}
            for f in done.findings.figures
        ],
    }


def _row(verdict: Verdict) -> dict[str, Any]:
    return {
        "claim": verdict.claim,
        "published": published_text(verdict),
        "measured": measured_text(verdict),
        "difference": difference_text(verdict),
        "holds": verdict.holds,
        "note": verdict.note,
    }
