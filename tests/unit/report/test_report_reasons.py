"""Reasons in a report: pictures that are shaded, texts with marks, rules for tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from support.report_stores import Pair, machine, task, write_store
from tmverify import Model
from tmverify.asking.answer import decide_task
from tmverify.asking.rules import KeptRules
from tmverify.campaign import Store
from tmverify.report.page import render, table_json
from tmverify.report.reasons import ReasonEntry, reason_entry
from tmverify.report.report import Report, collect
from tmverify.space import Category, Flag, Number, Space, Text


def reported(path: Path, model: Model, *rows: tuple[list[int], dict[str, Any]], limit: int = 9) -> Report:
    """The report of explanations of these inputs, really found."""
    pairs: list[Pair] = []
    for index, (x, more) in enumerate(rows):
        about = task("explanation", x, model, index=index, data="d", **{"timeout": 20.0, **more})
        pairs.append((about, decide_task(about, [model])))
    write_store(path, pairs, [("first", model)])
    with Store.reading(path) as store:
        return collect(list(store.rows()), store.models(), title="t", source="s", gallery=limit)


def entries(report: Report) -> list[ReasonEntry]:
    models = {model.hash: model for model in report.models}
    return [reason_entry(place, report.rows[place], models, "first") for place in report.reasons.places]


def test_a_picture_is_shaded(tmp_path: Path) -> None:
    model = Model.from_clauses(4, [[1, -4]], [[1]], bias=-1, classes=["cat", "dog"])
    report = reported(tmp_path / "s.db", model, ([1, 1, 0, 0], {"image": (2, 2), "label": "cat"}))
    (entry,) = entries(report)
    assert (entry.decision, entry.size, entry.open) == ("dog", "2 of 4 pixels suffice", "")
    assert entry.misclassified
    assert [picture.caption for picture in entry.shown.pictures] == ["input", "suffices"]
    assert entry.shown.pictures[1].description == "1 pixels that must be on, 1 that must be off"
    page = render(report)
    assert "Reasons: the facts that suffice for a decision" in page
    assert page.count('class="entry"') == 1
    assert entry.shown.pictures[1].description in page


def test_a_table_has_its_rule(tmp_path: Path) -> None:
    space = Space(
        [Number("age", (25, 40)), Category("city", ("Bergen", "Oslo")), Flag("owner")], target="risk"
    )
    model = Model.from_clauses(5, [[1, 4]], [[1]], bias=-1, space=space, classes=["high", "low"])
    x = space.encode([{"age": 31, "city": "Oslo", "owner": 1}])[0].tolist()
    more = {"raw": ("31", "Oslo", "1"), "row_name": "Ann <b>", "rules": KeptRules("columns"), "line": 2}
    report = reported(tmp_path / "s.db", model, (x, more))
    (entry,) = entries(report)
    assert entry.rule == "IF age over 25 AND city is Oslo THEN low"
    assert [(cell.name, cell.value, cell.seen) for cell in entry.shown.changed] == [
        ("age", "over 25", "31"),
        ("city", "Oslo", ""),
    ]
    assert (entry.target, entry.heading) == ("risk", "Ann <b>")
    page = render(report)
    assert "Ann &lt;b&gt;" in page
    assert "IF age over 25 AND city is Oslo THEN low" in page
    assert "IF age over 25 AND city is Oslo THEN low" in table_json(report)


def test_a_text_is_marked(tmp_path: Path) -> None:
    space = Space([Text(("good", "bad", "film"), "review")])
    model = Model.from_clauses(3, [[1, -2]], [[1]], bias=-1, space=space)
    report = reported(tmp_path / "s.db", model, ([1, 0, 1], {"raw": ("A Good <i>film</i>",)}))
    (entry,) = entries(report)
    assert entry.size == "2 of 3 words suffice"
    (passage,) = entry.shown.passages
    assert passage.pieces == (("A ", False), ("Good", True), (" <i>film</i>", False))
    assert [(row.kind, row.names) for row in entry.shown.chips] == [("absent", ("bad",))]
    page = render(report)
    assert "A <mark>Good</mark> &lt;i&gt;film&lt;/i&gt;" in page


def test_features_without_names(tmp_path: Path) -> None:
    model = Model.from_clauses(4, [[1, -4]], [[1]], bias=-1)
    (entry,) = entries(reported(tmp_path / "s.db", model, ([1, 1, 0, 0], {"epsilon": 2})))
    assert entry.size == "2 of 4 features suffice within ε 2"
    assert [(row.kind, row.names) for row in entry.shown.chips] == [("plain", ("x0",)), ("absent", ("x3",))]


def test_the_shortest_come_first_and_open_ones_last(tmp_path: Path) -> None:
    model = Model.from_clauses(3, [[1, 2], [3]], [[1, 1]], bias=-1)
    rows = [([1, 1, 0], {}), ([0, 1, 1], {}), ([0, 0, 0], {"timeout": 1e-9})]
    report = reported(tmp_path / "s.db", model, *rows)
    assert report.reasons.places == (1, 0, 2)
    assert entries(report)[2].open.endswith(" of them might be left out, or have further values")
    few = reported(tmp_path / "few.db", model, *rows, limit=1)
    assert (few.reasons.places, few.reasons.total) == ((1,), 3)
    assert "1</span> of 3 reasons" in render(few)
    none = reported(tmp_path / "none.db", model, *rows, limit=0)
    assert "3 reasons are known; none were to be drawn." in render(none)


def test_explanations_are_no_points_of_robustness(tmp_path: Path) -> None:
    report = reported(tmp_path / "s.db", machine(), ([1, 0, 0, 0], {"epsilon": 1}), ([0, 0, 1, 0], {}))
    assert report.curves == ()
    assert {line.epsilon for line in report.lines} == {None, 1}
    assert "explained" in render(report)
    assert "explained at ε 1" in render(report)


def test_a_report_without_reasons_does_not_speak_of_them(tmp_path: Path) -> None:
    model = machine()
    about = task("robustness", [1, 0, 0, 0], model, index=0, data="d", epsilon=0)
    write_store(tmp_path / "s.db", [(about, decide_task(about, [model]))], [("first", model)])
    with Store.reading(tmp_path / "s.db") as store:
        report = collect(list(store.rows()), store.models(), title="t", source="s")
    assert report.reasons.total == 0
    assert 'id="explanations"' not in render(report)
    assert np.all([row.found.reason is None for row in report.rows])
