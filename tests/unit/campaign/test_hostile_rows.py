"""What a store says of columns and rows: forged spaces, lines, names and cells are refused, with a reason."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

import tmverify as tv
from support.campaigns import stored
from support.real_stores import looked_at
from support.report_stores import answer, table_store, write_store
from support.report_stores import task as asked_task
from tmverify.asking.task import MOST_CHARS
from tmverify.campaign import Store
from tmverify.errors import StoreError


def spoil(path: Path, statement: str, *values: Any) -> None:
    database = sqlite3.connect(path)
    database.execute(statement, values)
    database.commit()
    database.close()


def part(**more: Any) -> dict[str, Any]:
    return {"kind": "number", "name": "age", "cuts": [25.0, 40.0], "missing": False, **more}


def image(*shape: int) -> dict[str, Any]:
    return {
        "kind": "image", "name": "image", "shape": [*shape], "threshold": None, "window": None, "offset": 0.0,
    }  # fmt: skip


SPACES: dict[str, Any] = {
    "a list": [],
    "no parts": {"parts": [], "target": None},
    "something more": {"parts": [part()], "target": None, "more": 1},
    "no kind": {"parts": [{}], "target": None},
    "a kind in a list": {"parts": [{"kind": ["number"]}], "target": None},
    "an unknown kind": {"parts": [{"kind": "date", "name": "d"}], "target": None},
    "too few bits": {"parts": [part()], "target": None},
    "cuts in words": {"parts": [part(cuts=["25"] * 5)], "target": None},
    "cuts that are no numbers": {"parts": [part(cuts=[float("nan")] * 5)], "target": None},
    "infinite cuts": {"parts": [part(cuts=[1.0, 2.0, 3.0, 4.0, float("inf")])], "target": None},
    "cuts in disorder": {"parts": [part(cuts=[5.0, 4.0, 3.0, 2.0, 1.0])], "target": None},
    "a cut that is huge": {"parts": [part(cuts=[1.0, 2.0, 3.0, 4.0, 10**400])], "target": None},
    "no name": {"parts": [part(cuts=[1.0, 2.0, 3.0, 4.0, 5.0], name=" ")], "target": None},
    "half a character": {"parts": [part(cuts=[1.0, 2.0, 3.0, 4.0, 5.0], name="\ud800")], "target": None},
    "one name twice": {"parts": [part(), part(cuts=[1.0, 2.0, 3.0])], "target": None},
    "a target that is no text": {"parts": [part(cuts=[1.0, 2.0, 3.0, 4.0, 5.0])], "target": 1},
    "a picture that is huge": {"parts": [image(4096, 4096)], "target": None},
    "a picture without end": {"parts": [image(10**9, 10**9)], "target": None},
    "a picture of nothing": {"parts": [image(0, 5)], "target": None},
    "words that are none": {"parts": [{"kind": "text", "name": "t", "words": ["a b"] * 5}], "target": None},
    "true in place of a count": {"parts": True, "target": "y"},
}


@pytest.mark.parametrize("name", SPACES)
def test_answers_about_a_forged_space_are_not_believed(name: str, tmp_path: Path) -> None:
    path = table_store(tmp_path / "s.db")
    spoil(path, "UPDATE model SET space = ?", json.dumps(SPACES[name]))
    start = time.monotonic()
    rows = stored(path)
    assert rows
    assert all(row.refused is not None and row.refused.startswith("of model ") for row in rows)
    assert time.monotonic() - start < 5
    with Store.reading(path) as opened:
        assert opened.models() == {}
        looked_at(opened)


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 200_000, '{"parts": 1e999, "target": "y"}', b"\xff{}", 7, 1.5]
)
def test_a_space_that_is_no_json(text: Any, tmp_path: Path) -> None:
    path = table_store(tmp_path / "s.db")
    spoil(path, "UPDATE model SET space = ?", text)
    assert all("space" in (row.refused or "") for row in stored(path))


@pytest.mark.parametrize("cells", [[], ["31"], ["31", "Oslo", "more"], ["x"] * 10_000])
def test_a_row_has_a_cell_for_each_column(cells: list[str], tmp_path: Path) -> None:
    path = table_store(tmp_path / "s.db")
    spoil(path, "UPDATE asked SET raw = ?", json.dumps(cells))
    for row in stored(path):
        assert row.refused is not None
        assert f"its row has {len(cells)} cells" in row.refused
        assert "has 2 columns" in row.refused


def test_a_model_without_names_has_no_rows_of_a_file(tmp_path: Path) -> None:
    model = tv.Model.from_clauses(4, [[1], [-1]], [1, -1])
    about = asked_task("robustness", [1, 0, 0, 0], model, index=0, data="d", epsilon=1)
    path = write_store(tmp_path / "s.db", [(about, answer(about, "holds"))], [("m", model)])
    spoil(path, "UPDATE asked SET raw = ?", '["1", "0", "0", "0"]')
    (row,) = stored(path)
    assert "has no columns" in (row.refused or "")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("line", 0),
        ("line", -1),
        ("line", 1.5),
        ("line", "seven"),
        ("row_name", b"\xff"),
        ("row_name", b"7"),
        ("row_name", "x" * (MOST_CHARS + 1)),
        ("row_name", "x" * 300_000),
        ("raw", "31"),
        ("raw", '{"age": "31"}'),
        ("raw", '["31", 7]'),
        ("raw", '["31", null]'),
        ("raw", b'["31", "Oslo"]'),
        ("raw", json.dumps(["31", "x" * (MOST_CHARS + 1)])),
    ],
)
def test_what_can_be_no_row_is_an_error_with_a_reason(column: str, value: Any, tmp_path: Path) -> None:
    path = table_store(tmp_path / "s.db")
    spoil(path, f"UPDATE asked SET {column} = ?", value)
    with pytest.raises(StoreError, match="of task"):
        stored(path)


@pytest.mark.parametrize("column", ["line", "row_name", "raw"])
def test_text_that_is_not_utf_8_is_no_row(column: str, tmp_path: Path) -> None:
    path = table_store(tmp_path / "s.db")
    spoil(path, f"UPDATE asked SET {column} = CAST(X'5B22FF225D' AS TEXT)")
    with pytest.raises(StoreError, match=column):
        stored(path)


def test_a_question_about_all_inputs_has_no_row(tmp_path: Path) -> None:
    models = [tv.Model.from_clauses(4, [[lit], [-lit]], [1, -1]) for lit in (1, 2)]
    about = asked_task("equivalence", None, *models)
    path = write_store(tmp_path / "s.db", [(about, None)], [("a", models[0]), ("b", models[1])])
    spoil(path, "UPDATE asked SET line = 3")
    with pytest.raises(StoreError, match="about no row of a file"):
        stored(path)


def test_the_longest_names_and_cells_are_kept(tmp_path: Path) -> None:
    path = table_store(tmp_path / "s.db")
    spoil(
        path, "UPDATE asked SET row_name = ?, raw = ?", "é" * MOST_CHARS, json.dumps(["31", "é" * MOST_CHARS])
    )
    rows = stored(path)
    assert {row.task.row_name for row in rows} == {"é" * MOST_CHARS}
    assert all(row.refused is None for row in rows)
