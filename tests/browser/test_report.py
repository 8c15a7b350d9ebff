"""The report in a real browser, as wide as a phone and as a desktop."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, cast

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from sluice.lab.compare import compare
from sluice.lab.library import find_scenario
from sluice.lab.report import report_html

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="no browser: install chromium and chromium-driver to test the report"
)
POLICIES = ("overprovision", "linear", "binpack", "tail-binpack")
SWITCHES = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scenarios = [find_scenario("workload-a"), find_scenario("workload-a-skewed")]
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_html(compare(scenarios, POLICIES, seeds=2)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for switch in (*SWITCHES.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture(params=[(390, 844), (1280, 900)], ids=["phone", "desktop"])
def opened(request: pytest.FixtureRequest, browser: webdriver.Chrome, page: Path) -> webdriver.Chrome:
    width, height = request.param
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    metrics |= {"screenWidth": width, "screenHeight": height}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(page.as_uri())
    WebDriverWait(browser, 30).until(lambda b: script(b, "document.documentElement.dataset.ready") == "yes")
    return browser


class Logs(Protocol):
    """The part of the driver that selenium leaves untyped."""

    def get_log(self, kind: str) -> list[dict[str, str]]: ...


def script(browser: webdriver.Chrome, expression: str) -> Any:
    return browser.execute_script(f"return {expression}")


def test_it_opens_offline_without_an_error(opened: webdriver.Chrome) -> None:
    assert [
        entry["message"] for entry in cast(Logs, opened).get_log("browser") if entry["level"] in ("SEVERE", "WARNING")
    ] == []
    assert script(opened, "performance.getEntriesByType('resource').map((r) => r.name)") == []


def test_nothing_is_wider_than_the_screen(opened: webdriver.Chrome) -> None:
    # The screen's own width: a phone widens its window to fit what is too wide.
    assert script(opened, "document.documentElement.scrollWidth <= screen.width")
    wide = script(
        opened,
        "[...document.querySelectorAll('.card, .plot, .plot svg')]"
        ".filter((e) => e.getBoundingClientRect().right > screen.width + 1).map((e) => e.className)",
    )
    assert wide == []


def test_every_chart_is_drawn(opened: webdriver.Chrome) -> None:
    # In each section: scatter, CDF, one lane a policy, actions, worst latency.
    plots = opened.find_elements(By.CSS_SELECTOR, ".plot")
    assert len(plots) == 2 * (4 + len(POLICIES))
    assert all(plot.find_elements(By.CSS_SELECTOR, ".scatterlayer .trace") for plot in plots)
    assert all(plot.get_attribute("aria-label") for plot in plots)
    shown = script(opened, "[...document.querySelectorAll('.plot .textpoint text')].map((t) => t.textContent)")
    assert set(shown) == {*POLICIES, "clairvoyant"}


def test_the_table_tells_the_numbers(opened: webdriver.Chrome) -> None:
    tables = opened.find_elements(By.TAG_NAME, "table")
    assert len(tables) == 2
    rows = [row.text for row in tables[0].find_elements(By.CSS_SELECTOR, "tbody tr")]
    assert [row.split()[0] for row in rows] == [*POLICIES, "clairvoyant"]
    assert "49.93" in rows[0]


def test_names_in_the_scatter_cover_no_other_name(opened: webdriver.Chrome) -> None:
    boxes = script(
        opened,
        "[...document.querySelector('.plot').querySelectorAll('.textpoint text')]"
        ".map((t) => t.getBoundingClientRect()).map((b) => [b.left, b.top, b.right, b.bottom])",
    )
    assert len(boxes) == len(POLICIES) + 1
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other_left, other_top, other_right, other_bottom in boxes[i + 1 :]:
            apart = right <= other_left or other_right <= left or bottom <= other_top + 2 or other_bottom <= top + 2
            assert apart


def test_light_and_dark(opened: webdriver.Chrome) -> None:
    def ground() -> Any:
        return script(opened, "getComputedStyle(document.body).backgroundColor")

    before = ground()
    button = opened.find_element(By.ID, "theme")
    button.click()
    assert ground() != before
    button.click()
    assert ground() == before
