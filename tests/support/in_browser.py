"""A real browser: Chromium, headless. Without one, or without selenium, these tests are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest, downloads: Path) -> Iterator[Any]:
    """A window as wide and high as the test module's WINDOW."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    if not (CHROMIUM and DRIVER):
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    size = f"--window-size={request.module.WINDOW}"
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", size):
        options.add_argument(option)
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    saved = {"behavior": "allow", "downloadPath": str(downloads)}
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", saved)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the browser saves files."""
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture
def screen(browser: Any) -> Iterator[Callable[[int], None]]:
    """A function that makes the screen so many pixels wide; narrow ones are phones."""

    def resize(width: int) -> None:
        size = {"width": width, "height": 780, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": width < 500})

    yield resize
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
