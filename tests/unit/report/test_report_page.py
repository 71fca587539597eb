"""The page: it is complete, and no text of a store becomes markup or a script."""

from __future__ import annotations

import json
import re
import sqlite3
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from support.report_stores import (
    answer,
    machine,
    mixed_store,
    rows_store,
    task,
    two_model_store,
    write_store,
)
from tmverify.campaign.export import records
from tmverify.campaign.store import Store
from tmverify.errors import MissingExtraError, StoreError
from tmverify.report import write_report

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)></script><!--\u2028&{{7*7}}"


class Tags(HTMLParser):
    """All start tags with their attributes, and the text of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and data.strip():
            self.scripts.append(data)


def page_of(store: Path, **options: Any) -> str:
    write_report(store, store.with_suffix(".html"), **options)
    return store.with_suffix(".html").read_text(encoding="utf-8")


def evil_store(path: Path) -> Path:
    names = (EVIL, "b" + EVIL, "c", "d")
    model = machine(feature_names=names, classes=(EVIL, "other"))
    asked: dict[str, Any] = {"names": [EVIL], "index": 0, "label": EVIL, "data": EVIL}
    one = task("robustness", [1, 0, 0, 0], model, epsilon=2, certified=True, **asked)
    two = task("robustness", [1, 0, 0, 0], model, epsilon=2, scope=EVIL, **asked)
    three = task("robustness", [1, 0, 0, 0], model, epsilon=3, **asked)
    found = answer(
        one,
        "violated",
        witness=[0, 1, 0, 0],
        decisions=(EVIL, "other"),
        certificate_path=f"/{EVIL}/{one.file_name}",
        versions={"tmverify": EVIL, EVIL: EVIL},
    )
    unknown = answer(two, "unknown", stop_reason="timeout", detail=EVIL)
    pairs = [(one, found), (two, unknown), (three, answer(three, "holds"))]
    write_store(path, pairs, [(EVIL, model)])
    database = sqlite3.connect(path)
    database.execute("UPDATE result SET engine = ? WHERE task = ?", (EVIL, three.id))  # not believed
    database.commit()
    database.close()
    return path


def test_no_text_of_a_store_becomes_markup(tmp_path: Path) -> None:
    page = page_of(evil_store(tmp_path / "s.db"), title=EVIL)
    parsed = Tags(page)
    assert len([tag for tag, _ in parsed.tags if tag == "script"]) == 2
    assert len(parsed.scripts) == 2
    assert not [name for _, attributes in parsed.tags for name in attributes if name.startswith("on")]
    assert all((a["src"] or "").startswith("data:") for tag, a in parsed.tags if tag == "img")
    assert "{{7*7}}" in page
    assert EVIL in json.loads(parsed.scripts[0])["texts"]
    assert not re.search("[<>&\u2028]", parsed.scripts[0])


def test_no_text_of_a_row_becomes_markup(tmp_path: Path) -> None:
    page = page_of(rows_store(tmp_path / "s.db", EVIL))
    parsed = Tags(page)
    tags = {tag for tag, _ in parsed.tags}
    assert not tags & {"img", "iframe", "object"}
    assert len([tag for tag, _ in parsed.tags if tag == "script"]) == len(parsed.scripts) == 2
    assert not [name for _, attributes in parsed.tags for name in attributes if name.startswith("on")]
    assert EVIL in json.loads(parsed.scripts[0])["texts"]
    assert not re.search("[<>&\u2028]", parsed.scripts[0])
    assert page.count("is another one") == 1  # the row that is not the input


def test_nothing_is_loaded_from_anywhere(tmp_path: Path) -> None:
    page = page_of(mixed_store(tmp_path / "s.db"))
    addresses = re.findall(r"https?://[^\"' ]*", page)
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}  # a name, not an address
    for _, attributes in Tags(page).tags:
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))
    assert "default-src &#39;none&#39;" in page


def test_says_what_unknown_means_and_why(tmp_path: Path) -> None:
    page = page_of(mixed_store(tmp_path / "s.db"))
    for said in ("Why answers are unknown", "timeout", "after 5 s", "never counted as robust", "2/3 robust"):
        assert said in page
    assert page.count('class="entry"') == 2
    assert page.count("data:image/png") == 6


def test_what_was_found_comes_first_and_times_last(tmp_path: Path) -> None:
    page = page_of(mixed_store(tmp_path / "s.db"))
    order = ('class="tiles"', 'id="summary"', 'id="charts"', 'id="changes"', 'id="answers"', 'id="times"')
    places = [page.index(part) for part in (*order, 'id="about"')]
    assert places == sorted(places)
    assert page.index("Radius: changes needed") < places[3]
    assert page.index("Time for each task") > places[5]


def test_a_store_of_radii_speaks_of_radii_alone(tmp_path: Path) -> None:
    model = machine()
    about = task("radius", [1, 0, 0, 0], model, index=0, data="d")
    found = answer(about, "exact", lower=1, upper=1, witness=[0, 0, 0, 0], decisions=(1, 0))
    page = page_of(write_store(tmp_path / "s.db", [(about, found)], [("first", model)]))
    shown = page[page.index("<main") : page.index("<details")]
    assert "Exact, of answered" in shown
    for other in ("iolated", "ε", "robust"):
        assert other not in shown


def test_every_wide_table_scrolls_in_a_box_of_its_own(tmp_path: Path) -> None:
    tags = Tags(page_of(mixed_store(tmp_path / "s.db"))).tags
    boxes = [attributes for _, attributes in tags if attributes.get("class") == "scroll"]
    assert [box["aria-label"] for box in boxes] == ["Summary table", "All answers", "Models"]
    assert all((box["tabindex"], box["role"]) == ("0", "region") for box in boxes)
    assert len([tag for tag, _ in tags if tag == "table"]) == len(boxes)


def test_words_and_pairs(tmp_path: Path) -> None:
    page = page_of(two_model_store(tmp_path / "s.db"), title="Two models")
    assert "<title>Two models</title>" in page
    for said in (
        "any input",
        "an input that tells them apart",
        '<bdi class="chip">good</bdi>',
        "first ↔ second",
    ):
        assert said in page


def test_features_without_names_are_called_by_their_index(tmp_path: Path) -> None:
    model = machine()
    about = task("robustness", [1, 0, 0, 0], model, index=0, data="d", epsilon=1, image=(3, 3))
    found = answer(about, "violated", witness=[1, 0, 1, 0], decisions=(1, 0))
    page = page_of(write_store(tmp_path / "s.db", [(about, found)], [("first", model)]))
    assert '<bdi class="chip">x2</bdi>' in page
    assert "data:image/png" not in page  # 3 x 3 pixels do not fit 4 features


def test_the_names_of_either_model_are_shown(tmp_path: Path) -> None:
    models = machine(), machine(clause=2, feature_names=("good", "bad", "film", "plot"))
    about = task("similarity", [1, 0, 0, 0], *models, index=0, data="d", epsilon=1)
    found = answer(about, "violated", witness=[1, 0, 1, 0], decisions=(1, 0))
    page = page_of(write_store(tmp_path / "s.db", [(about, found)], [("a", models[0]), ("b", models[1])]))
    assert '<bdi class="chip">film</bdi>' in page


def test_pixels_count_from_0_as_in_their_names(tmp_path: Path) -> None:
    model = machine(feature_names=("pixel_0_0", "pixel_0_1", "pixel_1_0", "pixel_1_1"))
    about = task("robustness", [1, 0, 0, 0], model, index=0, data="d", epsilon=1, image=(2, 2))
    found = answer(about, "violated", witness=[1, 0, 1, 0], decisions=(1, 0))
    page = page_of(write_store(tmp_path / "s.db", [(about, found)], [("first", model)]))
    assert "changed pixels: row 1 column 0 set" in page


def test_a_store_without_the_model_of_an_answer(tmp_path: Path) -> None:
    about = task("robustness", [1, 0, 0, 0], machine(), index=0, data="d", epsilon=1)
    found = answer(about, "violated", witness=[1, 0, 1, 0], decisions=(1, 0))
    store = write_store(tmp_path / "s.db", [(about, found)], [("other", machine(5))])
    page = page_of(store)
    assert "not believed" in page
    assert "No change that alters a decision is known" in page
    with Store.reading(store) as opened:
        (record,) = records(opened)
    assert (record["status"], record["stop_reason"]) == ("unknown", "not-believed")


@pytest.mark.parametrize("planned", [0, 1])
def test_an_empty_store(tmp_path: Path, planned: int) -> None:
    model = machine()
    pairs = [(task("equivalence", None, model, machine(clause=2)), None)][:planned]
    page = page_of(write_store(tmp_path / "s.db", pairs, [("first", model)]))
    assert "Nothing is answered yet" in page
    assert "No change that alters a decision is known" in page


def test_half_a_surrogate_pair_is_no_reason_to_fail(tmp_path: Path) -> None:
    model = machine()
    about = task("robustness", [1, 0, 0, 0], model, index=0, label="\ud800", data="d", epsilon=1)
    found = answer(about, "violated", witness=[0, 0, 0, 0], decisions=(1, 0))
    assert "labelled" in page_of(write_store(tmp_path / "s.db", [(about, found)], [("first", model)]))


def test_returns_how_many_answers_there_are(tmp_path: Path) -> None:
    assert write_report(mixed_store(tmp_path / "s.db"), tmp_path / "r.html", image=(1, 4)) == 12


def test_a_file_stays_as_it_was_if_there_is_no_store(tmp_path: Path) -> None:
    output = tmp_path / "r.html"
    output.write_text("before")
    with pytest.raises(StoreError):
        write_report(tmp_path / "none.db", output)
    assert output.read_text() == "before"
    assert list(tmp_path.iterdir()) == [output]


def test_names_the_extra_if_jinja2_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str) -> None:
        raise ImportError(f"No module named {module!r}")

    monkeypatch.setattr("tmverify.extras.import_module", missing)
    with pytest.raises(MissingExtraError, match=r"tmverify\[report\]"):
        write_report(tmp_path / "none.db", tmp_path / "r.html")
