"""Stores: believed, worded, drawn and counted as in the report; each answer opens where its model is."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tmverify as tv
from support.report_stores import (
    answer,
    machine,
    mixed_store,
    table_store,
    task,
    text_store,
    two_model_store,
    write_store,
)
from support.studios import Client, last
from tmverify.asking.rules import KeptRules
from tmverify.campaign import Store
from tmverify.errors import InvalidInputError, StoreError
from tmverify.properties.allowed import Rule
from tmverify.report.page import said_of
from tmverify.report.report import collect
from tmverify.report.tiles import tiles_of
from tmverify.studio.named import open_named
from tmverify.studio.server import Studio

SORTS = ("place", "name", "question", "model", "data", "label", "status", "epsilon", "radius", "seconds")


@contextmanager
def browsed(store: Path, *models: Path) -> Iterator[Client]:
    views, answers = open_named([store, *models], None, None)
    with Studio(views, "127.0.0.1", 0, answers) as studio:
        client = Client(studio.url)
        while not client.ask("summary")["complete"]:
            time.sleep(0.02)
        yield client


def saved(path: Path, model: tv.Model) -> Path:
    model.save(path)
    return path


@pytest.fixture
def mixed(tmp_path: Path) -> Iterator[Client]:
    model = saved(tmp_path / "first.tm", machine(classes=("cat", "dog")))
    with browsed(mixed_store(tmp_path / "mixed.db"), model) as client:
        yield client


@pytest.mark.parametrize("make", [mixed_store, two_model_store, table_store, text_store])
def test_answers_are_told_as_in_the_report(make: Any, tmp_path: Path) -> None:
    path = make(tmp_path / "results.db")
    with Store.reading(path) as store:
        rows, models = list(store.rows()), store.models()
    report = collect(rows, models, title="", source="")
    with browsed(path) as client:
        page, summary = client.ask("store"), client.ask("summary")
        changes = client.ask("gallery")
        assert client.get("api/about")[0] == 200
    assert page["total"] == len(rows)
    for i, (row, own, told) in enumerate(zip(rows, report.series, page["answers"], strict=True)):
        said = said_of(row, own, models, impossible=i in report.impossible)
        assert told == {"task": row.task.id, "place": i, "view": None, **said, "change": list(said["change"])}
    assert [tile["name"] for tile in summary["tiles"]] == [tile.name for tile in tiles_of(report)]
    counted = [(line["done"], line["positive"], line["violated"]) for line in summary["lines"]]
    assert counted == [(own.tally.done, own.tally.positive, own.tally.violated) for own in report.lines]
    assert [model["name"] for model in summary["models"]] == [model.name for model in report.models]
    assert changes["total"] == summary["gallery"] == report.gallery.total
    assert [entry["task"] for entry in changes["entries"]] == [
        each.task.id for each in report.gallery.changes
    ]


def test_answers_are_sorted_and_filtered(mixed: Client) -> None:
    everything = mixed.ask("store")["answers"]
    assert len(everything) == 12
    for sort in SORTS:
        for descending in (False, True):
            found = mixed.ask("store", sort=sort, descending=descending)["answers"]
            assert sorted(one["place"] for one in found) == list(range(12))
    radii = [one["bounds"] for one in mixed.ask("store", sort="radius")["answers"]]
    assert radii == ["1", "≥ 1", "2", "∞", *[""] * 8]
    radii = [one["bounds"] for one in mixed.ask("store", sort="radius", descending=True)["answers"]]
    assert radii == ["∞", "2", "≥ 1", "1", *[""] * 8]
    for name, value, n in (
        ("question", "radius", 4),
        ("status", "violated", 3),
        ("status", "unknown", 3),
        ("label", "dog", 6),
        ("model", "first", 12),
        ("data", "other", 0),
        ("text", "INPUT 2", 3),
    ):
        found = mixed.ask("store", filter={name: value})
        assert found["total"] == len(found["answers"]) == n, name
    page = mixed.ask("store", filter={"label": "cat"}, sort="epsilon", descending=True, offset=1, limit=2)
    assert (page["total"], [one["epsilon"] for one in page["answers"]]) == (6, [2, 1])
    options = mixed.ask("summary")["options"]
    assert options["question"] == ["radius", "robustness"]
    assert options["label"] == ["cat", "dog"]


def test_an_answer_opens_where_its_model_is(mixed: Client) -> None:
    told = mixed.ask("store", filter={"question": "radius"})["answers"][0]
    found = mixed.ask("answer", task=told["task"])
    assert (found["view"], found["remedy"], found["notes"]) == (0, "", [])
    assert found["answer"] == told
    drawn = {entry["task"]: entry for entry in mixed.ask("gallery")["entries"]}[told["task"]]
    assert found["entry"]["shown"] == drawn["shown"]
    assert found["entry"]["decisions"] == ["cat", "dog"]
    assert (found["bits"], found["witness"], found["within"]) == ("1000", "0100", None)
    events = mixed.watch(found["bits"], view=0, fixed=found["fixed"])
    assert [own["decision"] for own in last(events, "look")["models"]] == ["dog"]
    assert mixed.refused("answer", {"task": "none"})[0] == 400


def test_without_its_model_the_file_to_name_is_said(tmp_path: Path) -> None:
    path = mixed_store(tmp_path / "mixed.db")
    with browsed(path) as client:
        about = client.get("api/about")
        told = client.ask("store", limit=1)["answers"][0]
        found = client.ask("answer", task=told["task"])
        key = machine(classes=("cat", "dog")).content_hash[:8]
        assert found["view"] is None
        assert found["remedy"].endswith("tmverify studio mixed.db MODEL.tm")
        assert f"the file of the model first (hash {key}…)" in found["remedy"]
        for asked in ({"tab": "a", "number": 1, "bits": "1000"}, {}):
            assert client.refused("watch", asked) == (
                400,
                "No model is open: name the model files when you start the studio.",
            )
    assert (about[0], b'"kind":"store"' in about[1]) == (200, True)


def test_two_models_that_are_compared_have_a_view(tmp_path: Path) -> None:
    words = ("good", "bad", "film", "plot")
    path = two_model_store(tmp_path / "two.db")
    a = saved(tmp_path / "a.tm", machine(feature_names=words))
    b = saved(tmp_path / "b.tm", machine(clause=2, feature_names=words))
    with browsed(path, b, a) as client:
        assert {model["name"]: model["view"] for model in client.ask("summary")["models"]} == {
            "first": 1,
            "second": 0,
        }
        found = {
            told["question"]: client.ask("answer", task=told["task"])
            for told in client.ask("store")["answers"]
        }
        assert {one["view"] for one in found.values()} == {2}
        events = client.watch(found["radius"]["bits"], view=2, want=["disagree"])
        about = client.get("api/about/2")
    assert events[-2][1]["lower"] == 1
    assert about[0] == 200
    assert b'"title":"a"' in about[1].split(b'"title":"b"')[0]  # in the order in which they were compared
    same = found["equivalence"]
    assert same["bits"] == same["witness"] == "1001"
    assert same["notes"][0].startswith("It was asked about every possible input")


def test_what_a_view_asks_otherwise_is_said(tmp_path: Path) -> None:
    space = tv.Space([tv.Number("age", (25, 40)), tv.Flag("owner")])
    model = tv.Model.from_clauses(3, [[1], [-1]], [1, -1], space=space)
    kept = KeptRules("columns", columns=(Rule(1, "keep"),))
    grown = KeptRules("steps", columns=(Rule(0, "up"),))
    pairs = [
        (about, answer(about, "holds"))
        for about in (
            task("robustness", [1, 0, 1], model, index=0, epsilon=1, rules=kept, data="d"),
            task("robustness", [1, 0, 1], model, index=0, epsilon=2, rules=grown, data="d"),
            task("robustness", [1, 0, 1], model, index=0, epsilon=1, scope=1, data="d", margin=1),
        )
    ]
    path = write_store(tmp_path / "rules.db", pairs, [("first", model)])
    with browsed(path, saved(tmp_path / "m.tm", model)) as client:
        kept_, grown_, own = (
            client.ask("answer", task=told["task"]) for told in client.ask("store")["answers"]
        )
    assert (kept_["fixed"], kept_["within"], kept_["notes"]) == ([1], 1, [])
    assert grown_["notes"] == [
        "What could change was limited, which the view does not do: steps, age may only grow."
    ]
    assert [note.partition(" of ")[0].partition(" stand")[0] for note in own["notes"]] == [
        "It was asked about the machine",
        "Decisions had to",
        "Single bits could flip, also to inputs that no row is; in the view, whole columns change.",
    ]


def test_answers_that_are_not_believed_count_as_none(tmp_path: Path) -> None:
    path = mixed_store(tmp_path / "mixed.db")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE result SET engine = 'oracle' WHERE status = 'violated'")
    database.close()
    with browsed(path) as client:
        assert client.ask("store", filter={"status": "violated"})["total"] == 0
        assert client.ask("store", filter={"status": "not-believed"})["total"] == 3
        assert client.ask("summary")["refusals"]["count"] == 3


def test_a_store_that_is_damaged_says_so_without_its_path(tmp_path: Path) -> None:
    path = mixed_store(tmp_path / "mixed.db")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE task SET question = 'radius' WHERE epsilon = 2")
    database.close()
    views, answers = open_named([path], None, None)
    with Studio(views, "127.0.0.1", 0, answers) as studio:
        client = Client(studio.url)
        while not (summary := client.ask("summary"))["error"]:
            time.sleep(0.02)
    assert summary["error"].startswith("mixed.db: the store is damaged")
    assert str(tmp_path) not in summary["error"]
    assert (summary["read"], summary["complete"]) == (4, False)


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    model = saved(tmp_path / "m.tm", machine())
    store = mixed_store(tmp_path / "mixed.db")
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE t (x)")
    database.close()
    with pytest.raises(StoreError, match="a database, but no store"):
        open_named([tmp_path / "other.db"], None, None)
    with pytest.raises(InvalidInputError, match="A store has inputs of its own"):
        open_named([store, model], tmp_path / "rows.csv", None)
    with pytest.raises(InvalidInputError, match=r"one model, or two side by side\. Got 3 files"):
        open_named([model, model, model], None, None)


def test_reading_can_be_stopped(tmp_path: Path) -> None:
    """A studio that is closed at once does not wait for its store."""
    views, answers = open_named([mixed_store(tmp_path / "mixed.db")], None, None)
    with Studio(views, "127.0.0.1", 0, answers):
        pass
    assert not [thread for thread in threading.enumerate() if thread.name == "studio-store"]
