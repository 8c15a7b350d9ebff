"""Puts the page together: markup, style, script, plotting library and data in one file."""

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from sluice.errors import InputError
from sluice.lab.compare import Compared
from sluice.lab.report.data import report_data


def report_html(compared: Sequence[Compared]) -> str:
    """The whole page; nothing in it is fetched from elsewhere."""
    return page_html(report_data(compared), script="page.js")


def page_html(data: dict[str, Any], *, script: str) -> str:
    """Our page around `data`, drawn by the script of that name; its `title` is the page's."""
    parts = {
        "title": _escaped(data["title"]),
        "style": _part("page.css"),
        "plotly": _plotly(),
        "data": _script_safe(data),
        "script": _part(script),
    }
    page = _part("page.html")
    for name, text in parts.items():
        page = page.replace(f"<!-- {name} -->", text)
    return page


def _part(name: str) -> str:
    return (files("sluice.lab.report") / name).read_text(encoding="utf-8")


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise InputError("reports need plotly; install it with: pip install 'sluice[report]'") from None
    # The one sequence that would end the script early.
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def _script_safe(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False).replace("<", "\\u003c")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
