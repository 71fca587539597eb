"""The studio in a real browser: Chromium, headless, against the real server; the stories of its users."""

from __future__ import annotations

import importlib
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tmverify
from support.studio_models import hard, write_answers, write_bits, write_pictures, write_table, write_texts
from support.studio_page import PATIENCE, Page, served
from tmverify.model.file import load

pytest.importorskip("starlette", reason="needs tmverify[studio]")
pytest.importorskip("uvicorn", reason="needs tmverify[studio]")
pytest_plugins = ["support.in_browser"]
WINDOW = "1440,1000"
PAGES = ["pictures", "pair", "people", "films", "bits", "store", "alone"]
SPACE, ESCAPE, ENTER, TAB, HOME = "\ue00d", "\ue00c", "\ue007", "\ue004", "\ue011"
LEFT, UP, RIGHT = "\ue012", "\ue013", "\ue014"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def pages(folder: Path) -> Iterator[dict[str, str]]:
    """Addresses of studios, started as people start them."""
    picture, corner, pictures = write_pictures(folder)
    people, table = write_table(folder)
    films, texts = write_texts(folder)
    plain, bits = write_bits(folder)
    store = write_answers(folder)
    shown: dict[str, list[Path | str]] = {
        "pictures": [picture, "--data", pictures],
        "pair": [picture, corner, "--data", pictures],
        "people": [people, "--data", table, "--id", "name"],
        "films": [films, "--data", texts],
        "bits": [plain, "--data", bits],
        "store": [store, picture],
        "alone": [store],
    }
    with served(shown) as addresses:
        yield addresses


@pytest.fixture
def opened(browser: Any, pages: dict[str, str]) -> Callable[[str], Page]:
    return lambda name: Page(browser, pages[name])


@pytest.fixture
def saved(downloads: Path) -> Iterator[Callable[[str], Path]]:
    """A function that waits for a file that the page saved, by the end of its name."""
    shutil.rmtree(downloads, ignore_errors=True)

    def wait(suffix: str) -> Path:
        deadline = time.monotonic() + PATIENCE
        while not (found := list(downloads.glob(f"*{suffix}"))):
            assert time.monotonic() < deadline, f"no *{suffix} was saved"
            time.sleep(0.05)
        return found[0]

    yield wait
    shutil.rmtree(downloads, ignore_errors=True)


@pytest.mark.parametrize("name", PAGES)
def test_opens_in_peace_and_asks_its_own_server_only(
    browser: Any, pages: dict[str, str], opened: Callable[[str], Page], name: str
) -> None:
    page = opened(name)
    own = pages[name].split("/?")[0] + "/t/"
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
    assert len(loaded) > 10
    assert [each for each in loaded if not each.startswith(own)] == []
    assert page.all(".badge.good") or page.all(".answers tbody tr")
    page.quiet()


def test_a_drawn_pixel_changes_the_votes(opened: Callable[[str], Page]) -> None:
    page = opened("pictures")
    assert page.text(".decided") == "light"
    assert "by 4 votes over dark" in page.text(".margin")
    page.stroke((1, 1))  # the sixth of the counted pixels
    page.shows(".margin", "by 6 votes")
    assert "1 pixel changed" in page.text(".about-input")
    page.stroke((1, 1))  # starting on a drawn pixel erases it
    page.shows(".margin", "by 4 votes")
    page.quiet()


@pytest.mark.parametrize("pointer", ["mouse", "touch"])
def test_a_stroke_has_no_holes_and_is_undone_as_one(opened: Callable[[str], Page], pointer: str) -> None:
    page = opened("pictures")
    page.press("Erase")
    page.stroke((0, 0), (0, 3), pointer=pointer)
    page.shows(".decided", "dark")
    assert "4 pixels changed" in page.text(".about-input")
    page.press("Undo")
    page.shows(".decided", "light")
    assert "changed" not in page.text(".about-input")
    page.press("Redo")
    page.shows(".decided", "dark")
    page.press("Reset")
    page.shows(".decided", "light")


def test_the_nearest_change_flips_the_decision(opened: Callable[[str], Page]) -> None:
    page = opened("pictures")
    assert page.text(".radius .bounds") == "3 pixels"
    assert page.text(".radius .badge") == "proved"
    assert page.text(".radius .turn") == "Nearest change: light → dark"
    page.press("Apply this change", ".radius")
    page.shows(".decided", "dark")
    assert "3 pixels changed" in page.text(".about-input")
    page.quiet()


def test_what_is_kept_fixed_is_left_alone(opened: Callable[[str], Page]) -> None:
    page = opened("pictures")
    page.press("Keep these fixed", ".radius")
    page.shows(".radius .bounds", "never")
    assert "with 3 pixels kept fixed" in page.text(".radius .means")
    assert page.text(".radius .badge") == "proved"
    page.shows(".reason .means", "with 3 pixels as here")
    page.press("Free all", ".kept-note")
    page.shows(".radius .bounds", "3 pixels")
    page.press("Keep fixed", ".tools")
    page.stroke((0, 0), (0, 3))
    page.shows(".kept-note", "4 pixels kept fixed")


def test_the_reason_is_shaded_and_narrows_with_the_distance(opened: Callable[[str], Page]) -> None:
    page = opened("pictures")
    assert page.text(".reason .bounds") == "3 of 16 pixels"
    assert page.text(".reason .badge") == "proved"
    assert page.all(".reason .need-on-mark")
    slider = page.find(".reason input[type=range]")
    slider.send_keys(HOME)
    page.shows(".reason .within output", "within 1 pixel")
    page.shows(".reason .bounds", "none is needed")
    page.press("radius + 1")
    page.shows(".reason .within output", "within 4 pixels")
    page.shows(".reason .bounds", "of 16 pixels")


@pytest.mark.parametrize("card", [".radius", ".reason"])
def test_a_certificate_from_the_page_is_accepted(
    opened: Callable[[str], Page], saved: Callable[[str], Path], folder: Path, card: str
) -> None:
    page = opened("pictures")
    page.press("Certificate", card)
    command = page.until(lambda: page.all(f"{card} .checked code"), "no command was shown")[0].text
    program, certificate, model = shlex.split(command)
    assert program == "tmcheck"
    file = saved(certificate)
    shutil.copy(folder / model, file.parent)
    checked = subprocess.run(
        [sys.executable, "-m", "tmcheck", certificate, model], cwd=file.parent, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    page.quiet()


def test_a_clause_that_is_pointed_at_is_seen_on_the_picture(opened: Callable[[str], Page]) -> None:
    page = opened("pictures")
    marks = "return document.querySelector('.editor .want-on').getAttribute('d') || ''"
    assert page.browser.execute_script(marks) == ""
    page.find(".clause").send_keys("")  # focus
    assert page.browser.execute_script(marks).startswith("M")
    page.find(".tools button").send_keys("")
    assert page.browser.execute_script(marks) == ""


def test_two_models_disagree_on_the_input_that_is_shown(opened: Callable[[str], Page]) -> None:
    page = opened("pair")
    assert [each.text for each in page.all(".decided")] == ["light", "light"]
    assert page.text(".disagree .bounds") == "1 pixel"
    page.press("Apply this change", ".disagree")
    page.shows(".disagree .means", "They disagree on this very input")
    assert [each.text for each in page.all(".decided")] == ["light", "dark"]
    assert len(page.all(".badge.good")) == 5  # two radii, two reasons, one disagreement
    page.quiet()


def test_a_row_of_a_table_is_changed_by_a_slider(opened: Callable[[str], Page]) -> None:
    page = opened("people")
    assert page.text(".about-input") == "Ann, labelled bad"
    assert page.text(".decided") == "bad"
    age, city, member = page.all(".field")
    assert "25 to 40" in age.text
    assert "here 31" in age.text
    assert page.text(".radius .bounds") == "1 column"
    assert page.all(".ghost:not([hidden])") or "nearest change: Oslo" in city.text
    age.find_element("css selector", "input[type=range]").send_keys(RIGHT)
    page.shows(".decided", "good")
    assert "40 to 60" in age.text
    assert "in this reason" in age.text
    assert [each.text for each in page.all(".facts dd")] == ["age over 40", "risk good"]
    page.click(age.find_element("css selector", ".lock"))
    page.shows(".radius .bounds", "never")
    member.find_element("css selector", "input[value='0']").send_keys(SPACE)
    page.shows(".about-input", "2 columns changed")
    page.quiet()


def test_a_reason_names_the_columns_that_are_kept_fixed(
    opened: Callable[[str], Page], saved: Callable[[str], Path]
) -> None:
    page = opened("people")
    assert page.text(".reason .within output") == "everywhere"
    _, city, _ = page.all(".field")
    page.click(city.find_element("css selector", ".lock"))
    page.shows(".reason .means", "whatever else changes, with city as here")
    assert page.text(".reason .within output") == "everywhere, with 1 kept fixed"
    kept = [each.text for each in page.all(".facts .kept")]
    assert len(kept) == 1
    assert kept[0].startswith("city is ")
    assert kept[0].endswith(" (kept fixed)")
    page.press("Export")
    assert "(kept fixed)" in saved("people-view.html").read_text(encoding="utf-8")
    page.click(city.find_element("css selector", ".lock"))
    page.until(lambda: "as here" not in page.text(".reason .means"), "the kept column stays in the reason")
    page.quiet()


def test_a_text_is_edited(opened: Callable[[str], Page]) -> None:
    page = opened("films")
    area = page.find("textarea")
    assert area.get_property("value") == "A good film, 😀 a great film."
    underlined = [each.get_attribute("textContent") for each in page.all(".copy mark")]
    assert underlined == ["good", "film", "great", "film"]
    assert page.text(".decided") == "fine"
    page.browser.execute_script("arguments[0].setSelectionRange(2, 2)", area)
    area.send_keys("boring and boring ")
    page.shows(".margin", "0 votes: a score of 0 counts as fine")
    assert "boring" in page.text(".word-chips")
    page.press("Apply this change", ".radius")
    page.shows(".decided", "bad")
    page.press("Reset")
    page.shows(".decided", "fine")
    assert area.get_property("value") == "A good film, 😀 a great film."
    page.quiet()


def test_an_applied_change_is_written_into_the_text(opened: Callable[[str], Page]) -> None:
    page = opened("films")
    assert page.text(".radius .bounds") == "2 words"
    page.press("Apply this change", ".radius")
    page.shows(".decided", "bad")
    text = page.find("textarea").get_property("value")
    assert text != "A good film, 😀 a great film."
    assert "No text says exactly this" not in page.text(".text-part")


def test_plain_bits_are_switches(opened: Callable[[str], Page]) -> None:
    page = opened("bits")
    assert page.text(".decided") == "dark"
    page.press("x1", ".switches")
    page.shows(".decided", "light")
    assert page.find(".bit:nth-of-type(1)").get_attribute("aria-checked") == "true"
    page.quiet()


def test_rows_are_picked(opened: Callable[[str], Page]) -> None:
    page = opened("pictures")
    assert len(page.all(".row")) == 4
    page.click_first(".rows-card .check input")
    page.until(lambda: len(page.all(".row")) == 1, "not one row is misclassified")
    assert "1 of 4 rows" in page.text(".rows-card")
    page.click_first(".row")
    page.shows(".margin", "labelled light")
    assert page.text(".decided") == "dark"
    page.click_first(".rows-card .check input")
    page.until(lambda: len(page.all(".row")) == 4, "the other rows do not come back")
    choose = "const s = arguments[0]; s.value = arguments[1]; s.dispatchEvent(new Event('change'))"
    page.browser.execute_script(choose, page.find("[aria-label=Order]"), "radius")
    page.press("Measure radii")
    page.until(lambda: "· 4" in page.text(".rows"), "the radii were not measured")
    assert [each.get_attribute("data-index") for each in page.all(".row")] == ["1", "0", "3", "2"]
    page.press("Next row")
    page.shows(".about-input", "Row 0")
    page.quiet()


def test_the_keyboard_alone_suffices(opened: Callable[[str], Page], saved: Callable[[str], Path]) -> None:
    page = opened("pictures")
    page.keys("i")  # to the picture, whose cursor is in the middle
    assert page.browser.execute_script("return document.activeElement.className") == "board"
    page.keys(LEFT, UP, SPACE)  # the sixth of the counted pixels
    page.shows(".margin", "by 6 votes")
    page.keys("f")
    page.shows(".kept-note", "1 pixel kept fixed")
    page.keys("a")
    page.shows(".decided", "dark")
    page.keys("u")
    page.shows(".decided", "light")
    page.keys("U")
    page.shows(".decided", "dark")
    page.keys("n")
    page.shows(".about-input", "Row 1")
    page.keys("?")
    assert page.find("dialog").is_displayed()
    page.keys(ESCAPE)
    assert not page.find("dialog").is_displayed()
    certificate = page.find(".radius .certificate")
    for _ in range(80):
        if page.browser.switch_to.active_element == certificate:
            break
        page.keys(TAB)
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert page.browser.execute_script(outline) == "solid"
    page.keys(ENTER)
    page.until(lambda: page.all(".radius .checked code"), "no command was shown")
    assert saved(".tmcert")
    page.quiet()


def test_a_saved_view_has_no_script_and_says_the_same(
    opened: Callable[[str], Page], saved: Callable[[str], Path], browser: Any
) -> None:
    for name in ("pictures", "people", "films"):
        page = opened(name)
        told = (".decided", ".radius .stand", ".reason .stand")
        before = [page.text(each) for each in told]
        page.press("Export")
        file = saved(f"{name}-view.html")
        content = file.read_text(encoding="utf-8")
        assert "<script" not in content
        assert "token" not in content.lower()
        assert "http://" not in content.replace("http://www.w3.org", "")
        browser.get(file.as_uri())
        assert [page.text(each) for each in told] == before
        assert "Saved" in page.text("main footer")
        assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
        assert page.all("button, input[type=search], textarea") == []
        page.quiet()


def test_what_is_not_known_is_said_to_be_unknown(browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("tmverify.studio.live"), "SECONDS", 1e-9)
    with tmverify.studio(hard(), browser=False) as studio:
        page = Page(browser, studio.url)
    page.shows(".radius .badge", "unknown")
    assert "Not settled" in page.text(".radius .why")
    assert not page.find(".radius .certificate").is_displayed()
    assert page.all(".radius .badge.good") == []


def test_a_store_is_browsed_and_an_answer_opened(opened: Callable[[str], Page]) -> None:
    page = opened("store")
    page.until(lambda: page.text(".tiles") != "", "no tiles")
    assert page.text("h1") == "answers.db"
    assert len(page.all(".answers tbody tr")) == 4
    assert page.all(".gallery .entry img")
    choose = "const s = arguments[0]; s.value = arguments[1]; s.dispatchEvent(new Event('change'))"
    page.browser.execute_script(choose, page.find("select[aria-label=Status]"), "violated")
    page.until(lambda: len(page.all(".answers tbody tr")) == 1, "the answers were not filtered")
    page.browser.execute_script(choose, page.find("select[aria-label=Status]"), "")
    page.until(lambda: len(page.all(".answers tbody tr")) == 4, "the filter stays")
    page.press("Input", ".answers")
    page.until(lambda: page.all(".answers [aria-sort=ascending]"), "the answers were not sorted")
    page.click_first(".open-answer")
    page.until(lambda: page.all(".status-line.ready"), "the answer does not open")
    assert page.text("h1") == "pictures"
    assert page.text(".about-input").startswith("row 0: robustness, ε 1")
    assert page.text(".decided") == "light"
    page.press("Answers")
    assert page.find(".answers").is_displayed()
    page.click_first(".gallery .entry")
    page.until(lambda: page.find(".decided").is_displayed(), "the change does not open")
    page.quiet()


def test_an_answer_whose_model_was_not_named_says_the_remedy(opened: Callable[[str], Page]) -> None:
    page = opened("alone")
    page.click_first(".open-answer")
    page.until(lambda: page.find(".opened").is_displayed(), "nothing opens")
    assert "name the file of the model" in page.text(".opened")
    page.quiet()


def test_a_server_that_is_gone_is_told(browser: Any, folder: Path) -> None:
    with tmverify.studio(load(folder / "pictures.tm"), browser=False) as studio:
        page = Page(browser, studio.url)
        assert page.text(".decided") == "dark"
    page.stroke((0, 0))
    page.until(lambda: "does not answer" in page.text(".status-line"), "nothing was said")
    assert page.all(".badge.good") == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [360, 390, 800, 1280])
def test_the_page_never_scrolls_sideways(
    opened: Callable[[str], Page], screen: Callable[[int], None], browser: Any, name: str, width: int
) -> None:
    screen(width)
    opened(name)
    browser.execute_script("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script("return innerWidth") == width


@pytest.mark.parametrize("name", ["pictures", "people", "films"])
def test_fingers_hit_what_can_be_tapped(
    opened: Callable[[str], Page], screen: Callable[[int], None], name: str
) -> None:
    screen(390)
    page = opened(name)
    taps = page.all("button, select, summary, input[type=range], .choice label")
    sizes = [(each.text, each.size["height"]) for each in taps if each.is_displayed()]
    assert len(sizes) > 10
    assert [size for size in sizes if size[1] < 44] == []


def test_the_decision_stays_in_sight_on_a_phone(
    opened: Callable[[str], Page], screen: Callable[[int], None]
) -> None:
    screen(390)
    page = opened("pictures")
    page.stroke((1, 1), pointer="touch")
    page.shows(".summary", "light by 6")
    line = page.browser.execute_script("return document.querySelector('.summary').getBoundingClientRect()")
    assert line["bottom"] <= 780


def test_paper_has_no_controls(opened: Callable[[str], Page], browser: Any) -> None:
    page = opened("people")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        shown = [each.text for each in page.all("button") if each.is_displayed()]
        assert [text for text in shown if text and not text.startswith("+")] == []
        assert page.find(".decided").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_proved_is_said_of_final_answers_only(opened: Callable[[str], Page]) -> None:
    page = opened("pictures")
    base = page.find("link[rel=stylesheet]").get_attribute("href").removesuffix("style.css")
    told = page.browser.execute_async_script(
        """
        const [base, done] = arguments;
        import(`${base}radius.js`).then(({radiusPanel}) => {
          const nothing = () => {};
          const panel = radiusPanel({
            about: {models: [{title: "m"}]}, columns: {unit: "pixel", parts: [], of: () => []}, two: false,
            state: {}, pointing: {bind: nothing}, editors: [], said: nothing, nearest: nothing,
            decision: () => "7",
          }, 0);
          const said = (event) => {
            panel.on({model: 0, change: null, done: false, ...event});
            const text = (name) => panel.element.querySelector(name).textContent;
            const open = panel.element.querySelector(".certificate").hidden;
            return [text(".badge"), text(".bounds"), open, text(".why")];
          };
          panel.begin({bits: "", fixed: [], within: null});
          done([
            said({lower: 2, upper: null}), said({lower: 4, upper: 9}), said({lower: 0, upper: 8}),
            said({lower: 7, upper: 7}),
            said({lower: 7, upper: 7, done: true, status: "exact", trusts: []}),
            said({lower: 4, upper: 9, done: true, status: "unknown", why: "timeout", trusts: []}),
            said({lower: null, upper: null, done: true, status: "never", trusts: []}),
          ]);
        });
        """,
        base,
    )
    assert told == [
        ["searching", "at least 2", True, ""],
        ["searching", "between 4 and 9", True, ""],
        ["searching", "between 4 and 8", True, ""],
        ["searching", "7 …", True, ""],
        ["proved", "7 pixels", False, ""],
        ["unknown", "between 4 and 9", True, "Not settled: timeout."],
        ["proved", "never", False, ""],
    ]
