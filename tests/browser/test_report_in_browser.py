"""A report in a real browser: Chromium, headless; what people do with it, and what it must never do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.report_stores import (
    answer,
    machine,
    mixed_store,
    rows_store,
    table_store,
    task,
    text_store,
    two_model_store,
    write_store,
)
from tmverify.report import write_report

pytest_plugins = ["support.in_browser"]
WINDOW = "1280,900"
N_MANY = 3000
EVIL = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>" + "very" * 40
PAGES = ["mixed", "words", "far", "many", "evil", "rows", "table", "text", "empty"]
STATUS, CHANGE = 3, 6  # columns of the table


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of reports."""
    folder = tmp_path_factory.mktemp("reports")
    stores = [
        mixed_store(folder / "mixed.db"),
        two_model_store(folder / "words.db"),
        many(folder / "many.db"),
    ]
    stores += [
        far(folder / "far.db"),
        evil(folder / "evil.db"),
        rows_store(folder / "rows.db", EVIL),
        table_store(folder / "table.db"),
        text_store(folder / "text.db"),
        write_store(folder / "empty.db", [], [("first", machine())]),
    ]
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


def far(path: Path) -> Path:
    """A change of six features, and one of two."""
    model = machine(6, feature_names=tuple("abcdef"))
    pairs = []
    for index, n in enumerate((6, 2)):
        about = task("robustness", [1] * 6, model, index=index, data="test", epsilon=n)
        witness = [0] * n + [1] * (6 - n)
        pairs.append((about, answer(about, "violated", witness=witness, decisions=(1, 0))))
    return write_store(path, pairs, [("first", model)])


def evil(path: Path) -> Path:
    model = machine(feature_names=(EVIL, "b", "c", "d"), classes=(EVIL, "b"))
    about = task("robustness", [1, 0, 0, 0], model, names=[EVIL], index=0, label=EVIL, data=EVIL, epsilon=1)
    found = answer(about, "violated", witness=[0, 0, 0, 0], decisions=(EVIL, "b"))
    far = replace(about, epsilon=2)
    unknown = answer(far, "unknown", stop_reason="timeout", detail=EVIL)
    return write_store(path, [(about, found), (far, unknown)], [(EVIL, model)])


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


@pytest.mark.parametrize("name", PAGES)
def test_opens_in_peace_and_alone(browser: Any, pages: dict[str, str], name: str) -> None:
    browser.get_log("browser")
    browser.get(pages[name])
    assert browser.get_log("browser") == []
    loaded = (
        "return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith('data:'))"
    )
    assert browser.execute_script(loaded) == []
    assert browser.execute_script("return window.hurt") is None


@pytest.mark.parametrize("name", [name for name in PAGES if name != "many"])
@pytest.mark.parametrize("width", [360, 390, 800, 1280])
def test_the_page_never_scrolls_sideways(
    browser: Any, pages: dict[str, str], screen: Callable[[int], None], name: str, width: int
) -> None:
    screen(width)
    browser.get(pages[name])
    browser.execute_script("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script("return innerWidth") == width


@pytest.mark.parametrize("width", [390, 1280])
def test_a_table_that_is_cut_says_so(
    browser: Any, pages: dict[str, str], screen: Callable[[int], None], width: int
) -> None:
    screen(width)
    browser.get(pages["mixed"])
    browser.execute_async_script("setTimeout(arguments[0], 100)")
    boxes = browser.execute_script(
        "return [...document.querySelectorAll('.scroll')].map(box => [box.scrollWidth > box.clientWidth,"
        " box.previousElementSibling.matches('.swipe') && !box.previousElementSibling.hidden])"
    )
    assert len(boxes) == 3
    assert all(cut == said for cut, said in boxes)
    assert boxes[0][0] == (width == 390)


def test_a_cut_table_is_scrolled_by_keys(
    browser: Any, pages: dict[str, str], screen: Callable[[int], None]
) -> None:
    screen(390)
    browser.get(pages["mixed"])
    box = browser.find_element("css selector", "#summary .scroll")
    box.send_keys("\ue014")  # arrow right
    browser.execute_async_script("setTimeout(arguments[0], 500)")
    assert box.get_property("scrollLeft") > 0


def test_fingers_hit_what_can_be_tapped(
    browser: Any, pages: dict[str, str], screen: Callable[[int], None]
) -> None:
    screen(390)
    browser.get(pages["far"])
    taps = browser.find_elements("css selector", "main :is(button, select, input, summary), nav a")
    sizes = [(tap.text, tap.size["height"]) for tap in taps if tap.is_displayed()]
    assert len(sizes) > 15
    assert not [size for size in sizes if size[1] < 44]


def test_filters_apply_to_gallery_and_table_together(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["mixed"])
    assert (len(texts(browser, 0)), shown_entries(browser)) == (12, 2)
    choose(browser, "status", "=violated")
    assert (texts(browser, STATUS), shown_entries(browser)) == (["violated"] * 3, 2)
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
    assert texts(browser, STATUS) == ["unknown"] * 3
    browser.get(pages["words"])
    choose(browser, "search", "bad")
    assert shown_entries(browser) == 1


def test_what_changed_is_told_in_short_and_in_full(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["far"])
    heading = browser.find_elements("css selector", "#table thead button")[CHANGE]
    assert heading.text.startswith("Change")
    cell, short = browser.find_elements("css selector", "#table td.change")
    assert cell.text == "a: 1 → 0, b: 1 → 0, c: 1 → 0 and 3 more"
    assert short.text == "a: 1 → 0, b: 1 → 0"
    summary = cell.find_element("css selector", "summary")
    assert summary.get_attribute("title").split("\n") == [f"{name}: 1 → 0" for name in "abcdef"]
    summary.click()
    assert "f: 1 → 0" in cell.text
    assert "more" not in cell.text


def test_changes_are_filtered_and_searched_in_full(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["far"])
    choose(browser, "change", "=b: 1 → 0")
    assert texts(browser, 0) == ["0", "1"]
    choose(browser, "change", "=f: 1 → 0")
    assert texts(browser, 0) == ["0"]
    assert shown_entries(browser) == 1
    browser.get(pages["far"])
    choose(browser, "search", "e: 1 → 0")
    assert texts(browser, 0) == ["0"]


def test_rows_are_found_by_name_line_and_value(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["table"])
    headings = browser.find_elements("css selector", "#table thead button")
    assert [heading.text for heading in headings[:3]] == ["Name", "Line", "Question"]
    assert "Input" in [heading.text for heading in headings]
    assert (texts(browser, 0), texts(browser, 1)) == (["Ann", "Bob", "Cy"], ["2", "3", "4"])
    choose(browser, "search", "bob")
    assert (texts(browser, 1), shown_entries(browser)) == (["3"], 1)
    choose(browser, "search", "possible input")
    assert (texts(browser, 0), shown_entries(browser)) == (["Cy"], 1)
    choose(browser, "search", "bodø")  # a cell that does not change
    assert shown_entries(browser) == 1
    choose(browser, "search", "")
    choose(browser, "change", "=age: 25 to 40 → over 40")
    assert texts(browser, 0) == ["Ann"]


def test_what_changes_in_a_row_and_in_a_text_is_seen(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["table"])
    ann, _, cy = browser.find_elements("css selector", ".entry")
    assert ann.find_element("css selector", ".cells").text.split("\n") == ["age", "31 (25 to 40) → over 40"]
    assert ann.find_element("css selector", ".same").text == "city Oslo"
    assert "impossible (Bergen and Oslo)" in cy.find_element("css selector", ".now.impossible").text
    assert (
        "1 of 3 counterexamples are no possible input" in browser.find_element("css selector", ".notice").text
    )
    browser.get(pages["text"])
    passage = browser.find_element("css selector", ".passage")
    assert passage.text == "A <b>BORING</b> film; so boring, it's not good."
    struck = passage.find_elements("css selector", "del")
    assert [each.text for each in struck] == ["BORING", "boring"]
    assert "line-through" in struck[0].value_of_css_property("text-decoration")


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
