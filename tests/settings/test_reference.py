"""The generated page of settings is up to date."""

from pathlib import Path

from sluice.settings.reference import PAGE, reference

ROOT = Path(__file__).parents[2]


def test_the_page_says_what_the_settings_are() -> None:
    written = (ROOT / PAGE).read_text(encoding="utf-8")
    assert written == reference(), "docs/configuration.md is behind the settings; run: make docs"


def test_every_key_of_a_table_is_there() -> None:
    page = reference()
    for key in ("period_s", "max_poll_events", "sla_ratio", "cooldown_s", "f_up", "bootstrap", "`[group.output]`"):
        assert key in page
