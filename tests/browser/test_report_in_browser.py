"""A report in a real browser: Chromium, headless; what people do with it, and what it must never do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.report_stores import answer, machine, mixed_store, task, two_model_store, write_store
from tmverify.report import write_report

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver")

N_MANY = 3000


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of reports."""
    folder = tmp_path_factory.mktemp("reports")
    stores = [
        mixed_store(folder / "mixed.db"),
        two_model_store(folder / "words.db"),
        many(folder / "many.db"),
    ]
    stores += [evil(folder / "evil.db"), write_store(folder / "empty.db", [], [("first", machine())])]
    for store in stores:
        write_report(store, store.with_suffix(".html"))
    return {store.stem: store.with_suffix(".html").as_uri() for store in stores}


def many(path: Path) -> Path:
    model = machine(12)
    tasks = [
        task(
            "robustness", [i >> k & 1 for k in range(12)], model, index=i, label=i % 7, data="test", epsilon=1
        )
        for i in range(N_MANY)
    ]
    return write_store(path, [(each, None) for each in tasks], [("first", model)])


def evil(path: Path) -> Path:
    text = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>" + "very" * 40
    model = machine(feature_names=(text, "b", "c", "d"), classes=(text, "b"))
    about = task("robustness", [1, 0, 0, 0], model, names=[text], index=0, label=text, data=text, epsilon=1)
    found = answer(about, "violated", witness=[0, 0, 0, 0], decisions=(text, "b"))
    far = replace(about, epsilon=2)
    unknown = answer(far, "unknown", stop_reason="timeout", detail=text)
    return write_store(path, [(about, found), (far, unknown)], [(text, model)])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(option)
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def texts(browser: Any, column: int) -> list[str]:
    """A column of the table."""
    found: list[str] = browser.execute_script(
        "const rows = [...document.querySelectorAll('#table tbody tr')];"
        "return rows.map(row => row.cells[arguments[0]].textContent)",
        column,
    )
    return found


def shown_entries(browser: Any) -> int:
    entries = browser.find_elements("css selector", ".entry")
    return sum(entry.is_displayed() for entry in entries)


def choose(browser: Any, name: str, value: str) -> None:
    """Set a filter as a hand would, and let the page answer."""
    browser.execute_script(
        "const field = document.querySelector(`#filters [name=${arguments[0]}]`);"
        "field.value = arguments[1]; field.dispatchEvent(new Event('input', {bubbles: true}));",
        name,
        value,
    )
    browser.execute_async_script("setTimeout(arguments[0], 30)")


@pytest.mark.parametrize("name", ["mixed", "words", "many", "evil", "empty"])
def test_opens_in_peace_and_alone(browser: Any, pages: dict[str, str], name: str) -> None:
    browser.get_log("browser")
    browser.get(pages[name])
    assert browser.get_log("browser") == []
    loaded = (
        "return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith('data:'))"
    )
    assert browser.execute_script(loaded) == []
    assert browser.execute_script("return window.hurt") is None


@pytest.mark.parametrize("name", ["mixed", "words", "evil", "empty"])
@pytest.mark.parametrize("width", [360, 800, 1280])
def test_the_page_never_scrolls_sideways(browser: Any, pages: dict[str, str], name: str, width: int) -> None:
    size = {"width": width, "height": 780, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get(pages[name])
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert browser.execute_script("return innerWidth") == width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_filters_apply_to_gallery_and_table_together(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["mixed"])
    assert (len(texts(browser, 0)), shown_entries(browser)) == (12, 2)
    choose(browser, "status", "=violated")
    assert (texts(browser, 4), shown_entries(browser)) == (["violated"] * 3, 2)
    choose(browser, "epsilon", "=1")
    assert (texts(browser, 0), shown_entries(browser)) == (["1"], 1)
    choose(browser, "label", "=cat")
    assert (texts(browser, 0), shown_entries(browser)) == (["No answer fits the filters."], 0)
    browser.find_element("css selector", "#filters [type=reset]").click()
    browser.execute_async_script("setTimeout(arguments[0], 30)")
    assert (len(texts(browser, 0)), shown_entries(browser)) == (12, 2)


def test_search_finds_reasons_and_words(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["mixed"])
    choose(browser, "search", "TIMEOUT")
    assert texts(browser, 4) == ["unknown"] * 3
    browser.get(pages["words"])
    choose(browser, "search", "bad")
    assert shown_entries(browser) == 1


def test_headers_sort_by_hand_and_by_key(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["mixed"])
    header = browser.find_elements("css selector", "#table thead th")[0]
    button = header.find_element("css selector", "button")
    button.click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert texts(browser, 0) == sorted(texts(browser, 0))
    button.send_keys("\ue007")  # enter
    assert header.get_attribute("aria-sort") == "descending"
    assert texts(browser, 0) == sorted(texts(browser, 0), reverse=True)


def test_pictures_are_seen(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["mixed"])
    pictures = browser.find_elements("css selector", ".entry img")
    assert len(pictures) == 6
    for each in pictures:
        assert each.is_displayed()
        assert each.get_property("naturalWidth") == 2
        assert each.size["width"] > 40


def test_many_rows_come_in_pages(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["many"])
    assert len(texts(browser, 0)) == 50
    browser.find_element("css selector", "[data-go='1']").click()
    assert texts(browser, 0)[0] == "50"
    assert browser.find_element("id", "page").text.endswith(f"of {N_MANY}")


def test_paper_shows_all_rows_and_no_controls(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["many"])
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    try:
        assert len(texts(browser, 0)) == 2000
        assert "first 2000" in browser.find_element("id", "cut").text
        assert not browser.find_element("id", "filters").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
