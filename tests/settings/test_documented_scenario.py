"""The scenario shown in the documentation is one."""

from pathlib import Path

from sluice.lab.library import find_scenario, packaged_names

PAGE = Path(__file__).parents[2] / "docs" / "scenarios.md"


def test_the_example_can_be_read(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    path = tmp_path / "checkout.toml"
    path.write_text(text, encoding="utf-8")
    scenario = find_scenario(str(path))
    assert scenario.policies == ("linear", "tail-binpack")
    assert scenario.policy["tail-binpack"] == {"f_up": 0.8}


def test_every_packaged_scenario_is_described() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in packaged_names() if f"`{name}`" not in page] == []
