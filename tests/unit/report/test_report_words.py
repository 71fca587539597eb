"""Columns, rows and texts in a report: in the user's words, marked if impossible, shortened if long."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.report_stores import answer, table_store, task, text_store, write_store
from tmverify.asking.bits import pack
from tmverify.asking.task import MOST_CHARS
from tmverify.campaign import Asked, Store, Task, TaskAnswer
from tmverify.display.columns import summary_text
from tmverify.display.inputs import Shown, shown_input
from tmverify.display.words import shortened
from tmverify.report import write_report
from tmverify.report.columns import described
from tmverify.report.gallery import Entry, entry_of
from tmverify.report.page import table_json
from tmverify.report.report import Report, collect
from tmverify.report.rows import own_row, shown_row
from tmverify.report.words import changes_text
from tmverify.space import Part, Space
from tmverify.space.text import split_words, words_in_place

AGE, CITY = tv.Number("age", (25, 40), missing=True), tv.Category("city", ("Bergen", "Oslo"), other=True)
REVIEW = tv.Text(("good", "boring"), "review")


def collected(path: Path) -> Report:
    with Store.reading(path) as store:
        return collect(list(store.rows()), store.models(), title="t", source="s")


def entries_of(path: Path) -> list[Entry]:
    report = collected(path)
    models = {model.hash: model for model in report.models}
    return [entry_of(change, report.rows, models) for change in report.gallery.changes]


def page_of(path: Path) -> str:
    write_report(path, path.with_suffix(".html"))
    return path.with_suffix(".html").read_text(encoding="utf-8")


def changed(space: Space, before: list[int], after: list[int]) -> tuple[str, ...]:
    asked = Task(
        question="radius", models=("m",), names=("m",), n_features=len(before), bits=pack(np.array(before))
    )
    found = TaskAnswer(
        task=asked.id, status="exact", seconds=0, engine="search", witness=pack(np.array(after))
    )
    return changes_text(Asked(asked, found), space)


@pytest.mark.parametrize(
    ("parts", "before", "after", "said"),
    [
        ([AGE], [1, 0, 0], [1, 1, 0], "age: 25 to 40 → over 40"),
        ([AGE], [1, 0, 0], [0, 0, 1], "age: 25 to 40 → missing"),
        ([CITY], [0, 1], [1, 0], "city: Oslo → Bergen"),
        ([CITY], [0, 1], [0, 0], "city: Oslo → unseen"),
        ([CITY], [0, 1], [1, 1], "city: Oslo → impossible (Bergen and Oslo)"),
        ([REVIEW], [0, 1], [1, 1], "+ good"),
        ([REVIEW], [0, 1], [0, 0], "− boring"),  # noqa: RUF001
        ([REVIEW, CITY], [0, 1, 0, 0], [1, 1, 0, 0], "+ review: good"),
        ([tv.Image((2, 2))], [0, 0, 0, 0], [0, 0, 1, 0], "pixel_1_0 on"),
        ([tv.Image((2, 2))], [0, 0, 1, 0], [0, 0, 0, 0], "pixel_1_0 off"),
        ([tv.Flag("owner")], [0], [1], "owner: 0 → 1"),
        ([tv.Flag("owner", ("no", "yes"))], [0], [1], "owner: no → yes"),
        ([tv.Flag("funny", ("0", "1"), "word")], [0], [1], "+ funny"),
    ],
)
def test_a_change_in_words(parts: list[Part], before: list[int], after: list[int], said: str) -> None:
    assert changed(Space(parts), before, after) == (said,)


def test_changes_of_flags_without_names_are_short() -> None:
    assert changed(Space.flags(3), [0, 1, 0], [1, 0, 0]) == ("x0 0 → 1", "x1 1 → 0")


def test_several_bits_of_a_column_are_one_change() -> None:
    assert changed(Space([AGE, CITY]), [0, 0, 0, 0, 1], [1, 1, 0, 1, 0]) == (
        "age: up to 25 → over 40",
        "city: Oslo → Bergen",
    )


def test_long_names_are_shortened_with_a_count() -> None:
    (said,) = changed(Space([tv.Flag("n" * 5000)]), [0], [1])
    assert said == f"{'n' * 200}… (and {5000 + 7 - 200} more characters)"
    assert shortened("abc", 3) == "abc"


def test_rows_with_lines_and_names_are_one_line_of_the_summary(tmp_path: Path) -> None:
    (line,) = collected(table_store(tmp_path / "s.db")).lines
    assert line.tally.total == 3


def test_the_table_has_the_name_and_the_line_of_a_row(tmp_path: Path) -> None:
    data = json.loads(table_json(collected(table_store(tmp_path / "s.db"))))
    place = {name: i for i, name in enumerate(data["columns"])}
    rows = [
        (data["texts"][row[place["name"]]], row[place["line"]], row[place["index"]]) for row in data["rows"]
    ]
    assert rows == [("Ann", 2, 0), ("Bob", 3, 1), ("Cy", 4, 2)]
    said = [[data["texts"][i] for i in row[place["change"]]] for row in data["rows"]]
    assert said == [
        ["age: 25 to 40 → over 40"],
        ["age: up to 25 → 25 to 40"],
        ["city: Oslo → impossible (Bergen and Oslo)"],
    ]
    notes = [row[place["detail"]] for row in data["rows"]]
    assert notes[:2] == [None, None]
    assert data["texts"][notes[2]] == "no possible input"


def test_impossible_counterexamples_are_counted_and_explained(tmp_path: Path) -> None:
    path = table_store(tmp_path / "s.db")
    assert collected(path).impossible == {2}
    page = page_of(path)
    assert "1 of 3 counterexamples" in page
    assert page.count("flipping single bits") == 1
    assert page.count('<span class="flag">no possible input</span>') == 1
    other = page_of(text_store(tmp_path / "t.db"))
    assert "no possible input" not in other


def test_among_equally_near_changes_a_possible_one_is_shown(tmp_path: Path) -> None:
    space = Space([AGE, CITY])
    model = tv.Model.from_clauses(5, [[1]], [1], space=space)
    x = [1, 0, 0, 0, 1]
    pairs = []
    for epsilon, witness in ((1, [1, 0, 0, 1, 1]), (2, [1, 0, 0, 0, 0])):
        about = task("robustness", x, model, index=0, data="d", epsilon=epsilon)
        pairs.append((about, answer(about, "violated", witness=witness, decisions=(1, 0))))
    (change,) = collected(write_store(tmp_path / "s.db", pairs, [("m", model)])).gallery.changes
    assert (change.impossible, change.task.epsilon) == (False, 2)


def test_rows_of_a_table_are_shown_in_their_own_values(tmp_path: Path) -> None:
    ann, bob, cy = entries_of(table_store(tmp_path / "s.db"))
    assert [entry.heading for entry in (ann, bob, cy)] == ["Ann", "Bob", "Cy"]
    assert (ann.target, ann.size) == ("risk", "1 column changed")
    assert ann.facts["input"] == "line 2, index 0"
    (age,) = ann.shown.changed
    assert (age.name, age.value, age.seen, age.after) == ("age", "31", "25 to 40", "over 40")
    assert [(cell.name, cell.value, cell.seen) for cell in ann.shown.same] == [("city", "Oslo", "")]
    assert [(cell.value, cell.seen) for cell in bob.shown.same] == [("Bodø", "unseen")]
    assert [cell.impossible for cell in cy.shown.changed] == [True]
    assert [cell.value for cell in cy.shown.same] == ["66"]


def test_a_row_without_a_name_is_called_by_its_line(tmp_path: Path) -> None:
    (entry,) = entries_of(text_store(tmp_path / "s.db"))
    assert entry.heading == "line 2"
    assert entry.facts["input"] == "index 0"


def shown_person(raw: tuple[str, ...] | None, **more: Any) -> Shown:
    space = Space([AGE, CITY])
    x, witness = np.array([[1, 0, 0, 0, 1], [1, 1, 0, 0, 1]], np.uint8)
    return shown_row(space, x, witness, raw=raw, **more)


def test_without_the_row_its_bits_are_put_in_words() -> None:
    shown = shown_person(None)
    assert [(cell.value, cell.seen, cell.after) for cell in shown.changed] == [("25 to 40", "", "over 40")]
    assert [cell.value for cell in shown.same] == ["Oslo"]
    assert shown.note == ""


@pytest.mark.parametrize("raw", [("66", "Oslo"), ("31", "Bergen"), ("old", "Oslo"), ("31",)])
def test_a_row_that_is_not_the_input_is_not_shown(raw: tuple[str, ...]) -> None:
    shown = shown_person(raw)
    assert "another" in shown.note
    assert shown.changed == shown_person(None).changed
    assert shown.same == shown_person(None).same


def test_a_cell_that_was_cut_off_is_shown() -> None:
    long = "x" * MOST_CHARS
    x = np.array([1, 0, 0, 0, 1], np.uint8)
    assert own_row(Space([AGE, CITY]), ("31", long), x) == ("31", long)
    (cell,) = shown_person(("31", long)).same
    assert cell.value == f"{'x' * 120}… (and {MOST_CHARS - 120} more characters)"


def test_a_missing_value_is_called_so() -> None:
    space = Space([AGE, CITY])
    x, witness = np.array([[0, 0, 1, 0, 1], [0, 0, 1, 1, 0]], np.uint8)
    shown = shown_row(space, x, witness, raw=("", "Oslo"))
    assert [cell.value for cell in shown.same] == ["missing"]


def test_only_some_of_many_columns_are_shown() -> None:
    parts = [tv.Number(f"n{i}", (1.5,)) for i in range(100)]
    x = np.zeros(100, np.uint8)
    witness = x.copy()
    witness[:60] = 1
    shown = shown_row(Space(parts), x, witness, raw=("1",) * 100)
    assert (len(shown.changed), shown.more_changed) == (40, 20)
    assert (len(shown.same), shown.more_same) == (24, 16)


def test_an_input_that_tells_models_apart_is_shown_by_its_columns() -> None:
    shown = shown_input(Space([AGE, CITY]), None, np.array([1, 1, 0, 1, 0], np.uint8))
    assert not shown.changed
    assert [(cell.name, cell.value) for cell in shown.same] == [("age", "over 40"), ("city", "Bergen")]


def test_a_text_is_shown_with_what_is_removed(tmp_path: Path) -> None:
    (entry,) = entries_of(text_store(tmp_path / "s.db"))
    (passage,) = entry.shown.passages
    assert "".join(piece for piece, _ in passage.pieces) == "A <b>BORING</b> film; so boring, it's not good."
    assert [piece for piece, removed in passage.pieces if removed] == ["BORING", "boring"]
    assert [(chips.kind, chips.names) for chips in entry.shown.chips] == [("added", ("plot",))]
    assert entry.size == "2 words: 1 added, 1 removed"
    page = page_of(tmp_path / "s.db")
    assert "&lt;b&gt;<del>BORING</del>&lt;/b&gt; film; so <del>boring</del>, it&#39;s not good." in page


def test_a_huge_text_is_shortened_with_a_count(tmp_path: Path) -> None:
    text = "good film " + "word " * 3000 + "boring"
    (entry,) = entries_of(text_store(tmp_path / "s.db", raw=text))
    (passage,) = entry.shown.passages
    assert sum(len(piece) for piece, _ in passage.pieces) + passage.more == len(text)
    assert passage.more == len(text) - 700
    # The word that is removed is not in the part that is shown, so it is listed.
    assert [(chips.kind, chips.names) for chips in entry.shown.chips] == [
        ("added", ("plot",)),
        ("removed", ("boring",)),
    ]
    assert f"and {passage.more} more characters" in page_of(tmp_path / "s.db")


def test_a_text_that_the_store_does_not_have_is_shown_by_its_words() -> None:
    space = Space([REVIEW])
    shown = shown_input(space, np.array([0, 1], np.uint8), np.array([1, 1], np.uint8))
    assert [(chips.kind, chips.names) for chips in shown.chips] == [
        ("added", ("good",)),
        ("plain", ("boring",)),
    ]


def test_a_text_beside_columns_names_itself(tmp_path: Path) -> None:
    (entry,) = entries_of(text_store(tmp_path / "s.db", more=[tv.Flag("fan")]))
    (passage,) = entry.shown.passages
    assert passage.name == "review"
    assert [chips.caption for chips in entry.shown.chips] == ["added to review"]
    assert [(cell.name, cell.value) for cell in entry.shown.same] == [("fan", "0")]


@pytest.mark.parametrize("text", ["", "a", " A-b\tc's\nÉté  ", "x,,y", "İstanbul GOOD ß ﬁ"])
def test_words_are_where_they_are(text: str) -> None:
    found = words_in_place(text)
    assert [word for word, _ in found] == split_words(text)
    for word, start in found:
        assert split_words(text[start : start + len(word)]) == [word]


def test_a_picture_is_drawn_in_the_shape_of_the_space(tmp_path: Path) -> None:
    model = tv.Model.from_clauses(4, [[1]], [1], space=Space([tv.Image((2, 2), threshold=5.5)]))
    about = task("robustness", [1, 0, 0, 0], model, index=0, data="d", epsilon=1)
    found = answer(about, "violated", witness=[1, 0, 1, 0], decisions=(1, 0))
    path = write_store(tmp_path / "s.db", [(about, found)], [("m", model)])
    (entry,) = entries_of(path)
    assert len(entry.shown.pictures) == 3
    assert "row 1 column 0 set" in entry.shown.pictures[1].description


def test_pixels_of_colours_are_named(tmp_path: Path) -> None:
    model = tv.Model.from_clauses(6, [[1]], [1], space=Space([tv.Image((1, 2, 3))]))
    about = task("robustness", [1, 0, 0, 0, 0, 0], model, index=0, data="d", epsilon=1)
    found = answer(about, "violated", witness=[1, 0, 1, 0, 0, 0], decisions=(1, 0))
    (entry,) = entries_of(write_store(tmp_path / "s.db", [(about, found)], [("m", model)]))
    assert not entry.shown.pictures
    assert [chips.names for chips in entry.shown.chips] == [("pixel_0_0_2",)]


def test_the_columns_of_a_model_are_told(tmp_path: Path) -> None:
    page = page_of(table_store(tmp_path / "s.db"))
    for said in ("1 number, 1 category", "up to 25, 25 to 40, over 40", "Bergen, Oslo, unseen", "risk"):
        assert said in page


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (Space.flags(4), "4 features without names"),
        (Space([AGE, CITY, tv.Category("job", ("a", "b"))]), "1 number, 2 categories"),
        (Space([REVIEW, AGE]), "1 number, a text (2 words)"),
        (Space([tv.Image((8, 8))]), "a picture (8 x 8 pixels)"),
    ],
)
def test_columns_on_one_line(space: Space, said: str) -> None:
    assert summary_text(space) == said


def test_many_columns_and_values_are_shortened(tmp_path: Path) -> None:
    parts = [tv.Number(f"n{i}", tuple(map(float, range(20)))) for i in range(80)]
    flags = [tv.Flag(f"f{i}") for i in range(100)]
    (stored,) = collected(table_store(tmp_path / "s.db")).models
    model = replace(stored, space=Space([*parts, *flags]))
    (one,) = described([model, replace(model, name="again")])
    assert (one.models, len(one.lines), one.more) == ("first, again", 60, 21)
    assert one.lines[0].values.endswith("and 11 more")
    (line,) = described([replace(model, space=Space(flags))])[0].lines
    assert (line.kind, line.values) == ("flags", "0, 1")
    assert line.name.endswith("and 76 more")
    assert described([replace(model, space=Space.flags(4))]) == ()


def test_names_that_are_long_do_not_fill_the_page(tmp_path: Path) -> None:
    space = Space([AGE, CITY])
    model = tv.Model.from_clauses(5, [[1]], [1], space=space)
    name = "N" * MOST_CHARS
    about = task(
        "robustness", [1, 0, 0, 0, 1], model, index=0, data="d", epsilon=1, row_name=name, raw=("31", "Oslo")
    )
    found = answer(about, "violated", witness=[1, 1, 0, 0, 1], decisions=(1, 0))
    page = page_of(write_store(tmp_path / "s.db", [(about, found)], [("m", model)]))
    assert "N" * 201 not in page
    assert f"and {MOST_CHARS - 80} more characters" in page
